/** A property of a JSON Schema as a form shows it. */
export interface SchemaField {
  readonly name: string;
  readonly title: string;
  readonly hint: string | undefined;
  readonly kind: "text" | "long" | "password" | "number" | "switch" | "select" | "several" | "json";
  readonly fallback: unknown;
  readonly options: readonly { readonly value: string; readonly label: string; readonly raw: unknown }[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly step: number | "any";
}

type Bag = Readonly<Record<string, unknown>>;

/** The fields of an object's schema, in the order of its properties. */
export function toFields(schema: Bag | null | undefined): readonly SchemaField[] {
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, Bag>>;
  return Object.entries(properties).map(([name, property]) => toField(name, property));
}

function toField(name: string, property: Bag): SchemaField {
  const input = (property["input"] ?? {}) as Bag;
  const listed = Array.isArray(input["options"])
    ? input["options"]
    : Array.isArray(property["enum"])
      ? property["enum"]
      : [];
  const number = (key: string) => (typeof property[key] === "number" ? property[key] : undefined);
  return {
    name,
    title: typeof property["title"] === "string" ? property["title"] : name,
    hint: typeof property["description"] === "string" ? property["description"] : undefined,
    kind: toKind(property, input, listed.length > 0),
    fallback: property["default"],
    options: listed.map(toOption),
    min: number("minimum"),
    max: number("maximum"),
    step: property["type"] === "integer" ? 1 : "any",
  };
}

function toKind(property: Bag, input: Bag, hasOptions: boolean): SchemaField["kind"] {
  const { type } = property;
  if (input["type"] === "multiselect") {
    return "several";
  }
  if (input["type"] === "select" || hasOptions) {
    return hasOptions ? "select" : "text";
  }
  if (type === "boolean") {
    return "switch";
  }
  if (type === "integer" || type === "number") {
    return "number";
  }
  if (type === "string") {
    return input["type"] === "password" ? "password" : input["type"] === "textarea" ? "long" : "text";
  }
  return "json";
}

function toOption(option: unknown): SchemaField["options"][number] {
  const bag = typeof option === "object" && option !== null ? (option as Bag) : { value: option };
  const raw = bag["value"];
  return { value: String(raw), label: String(bag["label"] ?? raw), raw };
}

/** What is sent for a text that was typed: undefined for an empty one, which takes the default again. */
export function parseTyped(
  field: SchemaField,
  text: string,
): { readonly value?: unknown; readonly isWrong?: boolean } {
  if (text.trim() === "") {
    return {};
  }
  if (field.kind === "number") {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { isWrong: true };
  }
  if (field.kind === "json") {
    try {
      return { value: JSON.parse(text) as unknown };
    } catch {
      return { isWrong: true };
    }
  }
  return { value: text };
}
