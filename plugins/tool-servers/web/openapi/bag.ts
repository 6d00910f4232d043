export type Bag = Readonly<Record<string, unknown>>;

/** The object, or an empty one for anything else. */
export const toBag = (value: unknown): Bag => (isBag(value) ? value : {});

/** True for JSON objects. */
export const isBag = (value: unknown): value is Bag =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The list, or an empty one for anything else. */
export const toArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The text, or nothing for anything else. */
export const toText = (value: unknown): string => (typeof value === "string" ? value : "");
