import type { StoredSpec } from "../tables.ts";

type Bag = Readonly<Record<string, unknown>>;

/** The arguments of a call before the context: one object, or one value for each, with the defaults of the schema. */
export function toArguments({ positions, parameters }: StoredSpec, given: Bag): readonly unknown[] {
  const filled = { ...defaultsOf(parameters), ...given };
  return positions === undefined ? [filled] : positions.map((name) => filled[name] ?? null);
}

function defaultsOf({ properties }: Bag): Bag {
  const declared = Object.entries((properties ?? {}) as Readonly<Record<string, Bag | undefined>>);
  return Object.fromEntries(
    declared.flatMap(([name, schema]) =>
      schema?.["default"] === undefined ? [] : [[name, schema["default"]]],
    ),
  );
}
