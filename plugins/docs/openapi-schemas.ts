import { z } from "zod";

export type Json = Record<string, unknown>;

export interface Schemas {
  /** The JSON Schema of a type; parts that carry an id (`.meta({ id })`) become components and are referred to. */
  toSchema(type: z.ZodType, io: Direction, isNamed?: boolean): Json;
  /** Adds a component as it stands, and returns a reference to it. */
  refer(name: string, schema: Json): Json;
  /** Puts the components into the document and gives every reference its final name. */
  settle(document: Json): Json;
}

/** A request's or an answer's side of a type: defaults make a field optional in one and sure in the other. */
export type Direction = "input" | "output";

const prefix = "#/components/schemas/";

/** Collects the named schemas of one document. `owner` qualifies a name that another schema has already. */
export function createSchemas(owner: () => string): Schemas {
  const known = new Map<string, Json>();

  /** The key of a part until the document is settled: `name@direction`, qualified when another has it. */
  function keyOf(name: string, io: Direction, schema: Json): string {
    const key = `${name}@${io}`;
    const other = known.get(key);
    return other === undefined || isSame(other, schema) ? key : `${owner()}.${key}`;
  }

  /** Keeps the named parts of one type. A part that needs another name may make what refers to it another part. */
  function keepAll(parts: Readonly<Record<string, Json>>, io: Direction): ReadonlyMap<string, string> {
    const keys = new Map(Object.keys(parts).map((name) => [name, `${name}@${io}`]));
    for (let isSettled = false; !isSettled;) {
      isSettled = true;
      for (const [name, part] of Object.entries(parts)) {
        const key = keyOf(name, io, point(part, keys));
        isSettled &&= key === keys.get(name);
        keys.set(name, key);
      }
    }
    for (const [name, part] of Object.entries(parts)) {
      known.set(keys.get(name) as string, point(part, keys));
    }
    return keys;
  }

  return {
    toSchema(type, io, isNamed = true) {
      const target = "draft-2020-12" as const;
      const converted = z.toJSONSchema(type, { io, unrepresentable: "any", reused: "inline", target });
      const {
        $defs = {},
        $schema: _dialect,
        ...schema
      } = converted as Json & { $defs?: Record<string, Json> };
      const parts = Object.fromEntries(Object.entries($defs).map(([name, part]) => [name, withoutId(part)]));
      const named = typeof schema["$ref"] === "string" ? parts[schema["$ref"].slice(defs.length)] : undefined;
      return point(withoutId(isNamed ? schema : (named ?? schema)), keepAll(parts, io));
    },
    refer(name, schema) {
      const key = keyOf(name, "output", schema);
      known.set(key, schema);
      return { $ref: prefix + key };
    },
    settle(document) {
      const differing = findDiffering(known);
      const nameOf = (key: string) => {
        const [name = "", io] = key.split("@");
        return io === "input" && differing.has(name) ? `${name}Input` : name;
      };
      const schemas = Object.fromEntries(
        [...known]
          .map(([key, schema]) => [nameOf(key), schema] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      );
      const components = { ...(document["components"] as Json | undefined), schemas };
      const text = JSON.stringify({ ...document, components });
      const settled = text.replaceAll(
        /"#\/components\/schemas\/([^"]+@(?:input|output))"/g,
        (_match, key: string) => JSON.stringify(prefix + nameOf(key)),
      );
      return JSON.parse(settled) as Json;
    },
  };
}

const defs = "#/$defs/";

/** Turns references within one schema into references to components. */
function point(schema: Json, keys: ReadonlyMap<string, string>): Json {
  const text = JSON.stringify(schema);
  return JSON.parse(
    text.replaceAll(/"#\/\$defs\/([^"]+)"/g, (_match, name: string) =>
      JSON.stringify(prefix + (keys.get(name) ?? name)),
    ),
  ) as Json;
}

function withoutId({ id: _id, ...schema }: Json): Json {
  return schema;
}

function isSame(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Names whose input is not their output, directly or through what they refer to. */
function findDiffering(known: ReadonlyMap<string, Json>): Set<string> {
  const found = new Set<string>();
  const inputs = [...known].filter(([key]) => key.endsWith("@input"));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const [key, schema] of inputs) {
      const name = key.slice(0, key.indexOf("@"));
      const output = known.get(`${name}@output`);
      const text = JSON.stringify(schema);
      const isOther = output !== undefined && JSON.stringify(output).replaceAll("@output", "@input") !== text;
      if (
        isOther ||
        (output !== undefined && [...found].some((other) => text.includes(`${prefix}${other}@`)))
      ) {
        found.add(name);
      }
    }
  }
  return found;
}
