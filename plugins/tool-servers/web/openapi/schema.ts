import { type Bag, isBag, toArray, toBag, toText } from "./bag.ts";
import type { OpenApiDocument } from "./document.ts";

/** Keywords that models are shown. All else is for people and generators. */
const plain = new Set(
  (
    "type enum const default description title format pattern minimum maximum exclusiveMinimum exclusiveMaximum " +
    "multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties required"
  ).split(" "),
);
const lists = new Set(["oneOf", "anyOf", "allOf", "prefixItems"]);
const singles = new Set(["items", "additionalProperties", "not"]);
const maps = new Set(["properties", "patternProperties"]);

/** Parts of one operation's schema; beyond them anything is accepted, so that no document fills a model's context. */
const largestSchema = 1500;
const deepest = 24;

export type JsonSchema = Record<string, unknown>;

/**
 * Turns the schemas of one operation into JSON Schema that stands alone: references are put in their place, and those
 * that lead back to themselves become `$defs`.
 */
export class SchemaReader {
  readonly #document: OpenApiDocument;
  readonly #names = new Map<string, string>();
  #left = largestSchema;
  /** Schemas that refer to themselves, by the name they are referred to. */
  readonly defs: Record<string, JsonSchema> = {};

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** The object that a reference stands for, or the object itself. */
  resolve(value: unknown): Bag {
    let found = toBag(value);
    for (let step = 0; step < 20 && typeof found["$ref"] === "string"; step += 1) {
      found = toBag(this.#document.resolve(found["$ref"]));
    }
    return found;
  }

  read(schema: unknown, within: readonly string[] = []): JsonSchema | boolean {
    this.#left -= 1;
    if (typeof schema === "boolean") {
      return schema;
    }
    if (!isBag(schema) || this.#left < 0 || within.length > deepest) {
      return {};
    }
    const reference = schema["$ref"];
    if (typeof reference === "string") {
      return this.#follow(reference, schema, within);
    }
    return this.#convert(schema, [...within, ""]);
  }

  #follow(reference: string, { description }: Bag, within: readonly string[]): JsonSchema | boolean {
    const words = typeof description === "string" ? { description } : {};
    if (this.#names.has(reference) || within.includes(reference)) {
      return { $ref: `#/$defs/${this.#define(reference)}`, ...words };
    }
    const found = this.read(this.#document.resolve(reference), [...within, reference]);
    return typeof found === "boolean" ? found : { ...found, ...words };
  }

  #define(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) {
      return known;
    }
    const base = (reference.split("/").at(-1) ?? "").replaceAll(/[^A-Za-z0-9_]/g, "_") || "schema";
    const taken = new Set(this.#names.values());
    const name = taken.has(base) ? `${base}_${taken.size}` : base;
    this.#names.set(reference, name);
    const found = this.read(this.#document.resolve(reference), [reference]);
    this.defs[name] = typeof found === "boolean" ? {} : found;
    return name;
  }

  #convert(schema: Bag, within: readonly string[]): JsonSchema {
    const result: JsonSchema = {};
    for (const [key, value] of Object.entries(schema)) {
      if (plain.has(key)) {
        result[key] = value;
      } else if (lists.has(key)) {
        result[key] = toArray(value).map((each) => this.read(each, within));
      } else if (singles.has(key)) {
        result[key] = this.read(value, within);
      } else if (maps.has(key)) {
        result[key] = this.#readMap(toBag(value), within);
      }
    }
    return toPresentDialect(result, schema);
  }

  #readMap(properties: Bag, within: readonly string[]): JsonSchema {
    const entries = Object.entries(properties).filter(
      // Only answers hold them.
      ([, value]) => this.resolve(value)["readOnly"] !== true,
    );
    return Object.fromEntries(entries.map(([name, value]) => [name, this.read(value, within)]));
  }
}

/** OpenAPI 3.0 says some things in words of its own. */
function toPresentDialect(result: JsonSchema, schema: Bag): JsonSchema {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof result[flag] === "boolean") {
      const isExclusive = result[flag];
      delete result[flag];
      if (isExclusive && limit in result) {
        result[flag] = result[limit];
        delete result[limit];
      }
    }
  }
  if (schema["nullable"] === true && typeof result["type"] === "string") {
    result["type"] = [result["type"], "null"];
    if (Array.isArray(result["enum"]) && !result["enum"].includes(null)) {
      result["enum"] = [...(result["enum"] as unknown[]), null];
    }
  }
  if (Array.isArray(result["required"])) {
    const known = result["properties"];
    const required = result["required"].map(toText);
    result["required"] = isBag(known) ? required.filter((name) => Object.hasOwn(known, name)) : required;
  }
  return result;
}
