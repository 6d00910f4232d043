/** A JSON Schema that was read from a type in a comment. */
export type Schema = Readonly<Record<string, unknown>>;

const named: Readonly<Record<string, Schema>> = {
  string: { type: "string" },
  number: { type: "number" },
  integer: { type: "integer" },
  int: { type: "integer" },
  boolean: { type: "boolean" },
  bool: { type: "boolean" },
  object: { type: "object" },
  array: { type: "array" },
  null: { type: "null" },
  any: {},
  unknown: {},
  "*": {},
};

/** Deeper types are taken for anything. */
const deepest = 12;

/**
 * The JSON Schema of a type as JSDoc writes it: `string`, `"a" | "b"`, `number[]`, `Array<string>`,
 * `Record<string, number>`, `{lat: number, lon?: number}`, `?string`. What it does not know may be anything.
 */
export function toSchema(type: string): Schema {
  const reader = new TypeReader(type);
  const schema = reader.union(0);
  return reader.isAtEnd ? schema : {};
}

class TypeReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|[\w$*.]+|[^\s]/g) ?? [];
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  union(depth: number): Schema {
    this.#take("|");
    const parts = [this.#postfix(depth)];
    while (this.#take("|")) {
      parts.push(this.#postfix(depth));
    }
    return join(parts);
  }

  #take(token: string): boolean {
    const isNext = this.#tokens[this.#at] === token;
    this.#at += isNext ? 1 : 0;
    return isNext;
  }

  #postfix(depth: number): Schema {
    // Closure's marks: `?` may be null, `!` may not, which is so anyway.
    const isNullable = this.#take("?");
    this.#take("!");
    let schema = depth > deepest ? this.#skip() : this.#primary(depth + 1);
    while (this.#take("[")) {
      this.#take("]");
      schema = { type: "array", items: schema };
    }
    return isNullable ? join([schema, { type: "null" }]) : schema;
  }

  #primary(depth: number): Schema {
    const token = this.#tokens[this.#at++] ?? "";
    if (token === "(") {
      const inner = this.union(depth);
      this.#take(")");
      return inner;
    }
    if (token === "{") {
      return this.#object(depth);
    }
    if (/^["']/.test(token)) {
      return { const: token.slice(1, -1).replaceAll(/\\(.)/g, "$1") };
    }
    if (/^-?\d/.test(token)) {
      return { const: Number(token) };
    }
    if (token === "true" || token === "false") {
      return { const: token === "true" };
    }
    return this.#generic(token, depth) ?? named[token.toLowerCase()] ?? {};
  }

  #generic(token: string, depth: number): Schema | undefined {
    const name = token.replace(/\.$/, "").toLowerCase();
    if (!/^(?:array|readonlyarray|record|object|set)$/.test(name) || !this.#take("<")) {
      return undefined;
    }
    const given = [this.union(depth)];
    while (this.#take(",")) {
      given.push(this.union(depth));
    }
    this.#take(">");
    const last = given.at(-1) ?? {};
    return /^(?:record|object)$/.test(name)
      ? { type: "object", additionalProperties: last }
      : { type: "array", items: last };
  }

  #object(depth: number): Schema {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    while (!this.isAtEnd && !this.#take("}")) {
      const name = (this.#tokens[this.#at++] ?? "").replace(/^["'](.*)["']$/, "$1");
      const isOptional = this.#take("?");
      properties[name] = this.#take(":") ? this.union(depth) : {};
      if (!isOptional) {
        required.push(name);
      }
      if (!this.#take(",")) {
        this.#take(";");
      }
    }
    return { type: "object", properties, ...(required.length > 0 && { required }) };
  }

  #skip(): Schema {
    this.#at = this.#tokens.length;
    return {};
  }
}

/** One schema for either: literals become an enum, types a list of types. */
function join(parts: readonly Schema[]): Schema {
  const [first = {}] = parts;
  if (parts.length === 1) {
    return "const" in first ? toEnum([first["const"]]) : first;
  }
  if (parts.some((part) => Object.keys(part).length === 0)) {
    return {};
  }
  const literals = parts.flatMap((part) =>
    "enum" in part ? (part["enum"] as unknown[]) : "const" in part ? [part["const"]] : [],
  );
  const rest = parts.filter((part) => !("const" in part) && !("enum" in part));
  const literal = literals.length > 0 ? [toEnum(literals)] : [];
  if (rest.length === 0) {
    return literal[0] ?? {};
  }
  const isPlain =
    literal.length === 0 && rest.every((part) => Object.keys(part).length === 1 && "type" in part);
  return isPlain
    ? { type: [...new Set(rest.map((part) => part["type"]))] }
    : { anyOf: [...literal, ...rest] };
}

function toEnum(values: readonly unknown[]): Schema {
  const types = new Set(values.map((value) => typeof value));
  const [type] = types;
  return { ...(types.size === 1 && { type }), enum: [...new Set(values)] };
}
