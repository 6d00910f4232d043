/** A parameter of requests that a chat may set for itself. */
export interface Parameter {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  /** Texts; without them the parameter is a number. */
  readonly kind?: "text" | "list" | "choice";
  readonly choices?: readonly string[];
}

/** The value to store of what was typed; undefined takes the parameter out of the chat. */
export function readParameter({ kind, min, max, step }: Parameter, typed: string): unknown {
  if (typed.trim() === "") {
    return undefined;
  }
  if (kind === "choice" || kind === "text") {
    return typed;
  }
  if (kind === "list") {
    return typed.split("\n").filter((line) => line !== "");
  }
  const value = Number(typed.replace(",", "."));
  if (Number.isNaN(value)) {
    return undefined;
  }
  const whole = step === 1 ? Math.round(value) : value;
  return Math.min(max ?? Number.POSITIVE_INFINITY, Math.max(min ?? Number.NEGATIVE_INFINITY, whole));
}

/** The value as it stands in its field. */
export const showParameter = (value: unknown): string =>
  value === undefined || value === null ? "" : Array.isArray(value) ? value.join("\n") : String(value);
