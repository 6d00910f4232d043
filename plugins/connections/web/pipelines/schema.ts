type Bag = Readonly<Record<string, unknown>>;

/**
 * The schema of valves as forms take it. Pipelines servers describe what may be missing as one of two types, and some
 * fields not at all: those have the type of their value.
 */
export function toFormSchema(schema: unknown, values: Bag): Bag {
  const given = ((schema as { properties?: unknown } | null)?.properties ?? {}) as Readonly<
    Record<string, Bag>
  >;
  const names = [...new Set([...Object.keys(given), ...Object.keys(values)])];
  return {
    properties: Object.fromEntries(names.map((name) => [name, toProperty(given[name] ?? {}, values[name])])),
  };
}

function toProperty(property: Bag, value: unknown): Bag {
  const choices = (property["anyOf"] ?? []) as readonly Bag[];
  const named = [property["type"], ...choices.map(({ type }) => type)].find(
    (type) => typeof type === "string" && type !== "null",
  );
  return { ...property, type: named ?? toType(value ?? property["default"]) };
}

function toType(value: unknown): string {
  if (Array.isArray(value)) {
    return "array";
  }
  const type = value === null || value === undefined ? "string" : typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}
