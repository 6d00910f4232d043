import type { Random } from "../random.fixture.ts";

export type Resource = Record<string, unknown>;

/** Texts that make filters and resources meet, and those that are easily compared wrongly. */
export const words = [
  "a",
  "an",
  "Ana",
  "ana.b",
  "B",
  "ben",
  "x",
  "Zoë",
  "ZOË",
  'q"u',
  "back\\",
  "%",
  "_",
  "work",
  "home",
  "@x",
  ".test",
  "",
];

export interface RandomFilter {
  readonly text: string;
  fits(resource: Resource): boolean;
}

const operators = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
type Operator = (typeof operators)[number];

interface Attributes {
  readonly single: readonly string[];
  readonly lists: readonly string[];
  /** Those in which case counts. */
  readonly exact: ReadonlySet<string>;
  /** The list that filters in brackets are about, with the parts of its elements. */
  readonly elements: { readonly list: string; readonly parts: readonly string[]; readonly usualType: string };
}

const attributesOf: Readonly<Record<"Users" | "Groups", Attributes>> = {
  Users: {
    single: [
      "userName",
      "displayName",
      "externalId",
      "name.givenName",
      "name.familyName",
      "name.formatted",
      "title",
      "id",
    ],
    lists: ["emails", "emails.value", "emails.type", "emails.display", "groups.display", "groups"],
    exact: new Set(["externalId", "id", "groups"]),
    elements: { list: "emails", parts: ["value", "type"], usualType: "work" },
  },
  Groups: {
    single: ["displayName", "externalId", "id"],
    lists: ["members", "members.value", "members.display", "members.type"],
    exact: new Set(["externalId", "id", "members", "members.value"]),
    elements: { list: "members", parts: ["display", "type"], usualType: "User" },
  },
};

/** A filter with its reading in memory; `all` are the resources that it is about. */
export function randomFilter(
  kind: "Users" | "Groups",
  random: Random,
  all: readonly Resource[],
): RandomFilter {
  return tree({ random, all, attributes: attributesOf[kind] }, 3);
}

interface Context {
  readonly random: Random;
  readonly all: readonly Resource[];
  readonly attributes: Attributes;
}

function tree(context: Context, depth: number): RandomFilter {
  const { random } = context;
  if (depth === 0 || random.below(3) === 0) {
    return leaf(context);
  }
  switch (random.below(4)) {
    case 0: {
      const inner = tree(context, depth - 1);
      return {
        text: `${caseOf(random, "not")} (${inner.text})`,
        fits: (resource) => !inner.fits(resource),
      };
    }
    case 1: {
      const [a, b, c] = [leaf(context), leaf(context), leaf(context)];
      // Without brackets: `and` binds tighter than `or` (S97).
      return {
        text: `${a.text} or ${b.text} and ${c.text}`,
        fits: (resource) => a.fits(resource) || (b.fits(resource) && c.fits(resource)),
      };
    }
    default: {
      const [a, b] = [tree(context, depth - 1), tree(context, depth - 1)];
      const word = random.pick(["and", "or"] as const);
      return {
        text: `(${a.text}) ${caseOf(random, word)} (${b.text})`,
        fits: (resource) =>
          word === "and" ? a.fits(resource) && b.fits(resource) : a.fits(resource) || b.fits(resource),
      };
    }
  }
}

function leaf(context: Context): RandomFilter {
  const { random, attributes } = context;
  switch (random.below(8)) {
    case 0:
      return presence(context);
    case 1:
      return attributes === attributesOf.Users ? activity(random) : comparison(context);
    case 2:
      return bracketed(context);
    case 3:
      return moment(context);
    case 4: {
      const path = random.pick([...attributes.single, ...attributes.lists]);
      const op = random.pick(["eq", "ne"] as const);
      return {
        text: `${path} ${op} null`,
        fits: (resource) => valuesOf(resource, path, attributes).some(isPresent) === (op === "ne"),
      };
    }
    default:
      return comparison(context);
  }
}

function presence({ random, attributes }: Context): RandomFilter {
  const more = attributes === attributesOf.Users ? ["name", "active"] : [];
  const path = random.pick([...attributes.single, ...attributes.lists, ...more]);
  return {
    text: `${path} ${caseOf(random, "pr")}`,
    fits: (resource) =>
      path === "name"
        ? Object.values((resource["name"] ?? {}) as Resource).some(isPresent)
        : valuesOf(resource, path, attributes).some(isPresent),
  };
}

function activity({ below, pick }: Random): RandomFilter {
  const flag = below(2) === 0;
  const op = pick(["eq", "ne"] as const);
  return {
    text: `active ${op} ${flag}`,
    fits: (resource) => (resource["active"] === flag) === (op === "eq"),
  };
}

function bracketed({ random, attributes: { elements } }: Context): RandomFilter {
  const element = (): RandomFilter => {
    const part = random.pick(elements.parts);
    const op = random.pick(operators);
    const other = random.pick(words);
    return {
      text: `${part} ${op} ${JSON.stringify(other)}`,
      fits: (each) => {
        const value = each[part] ?? (part === "type" ? elements.usualType : undefined);
        return compare(op, value, { other, isExact: false });
      },
    };
  };
  const [inner, other] = [element(), element()];
  const word = random.pick(["and", "or"] as const);
  return {
    text: `${elements.list}[${inner.text} ${word} not (${other.text})]`,
    fits: (resource) =>
      ((resource[elements.list] ?? []) as Resource[]).some((each) =>
        word === "and" ? inner.fits(each) && !other.fits(each) : inner.fits(each) || !other.fits(each),
      ),
  };
}

/** Compares a time of the record with one of those that are there, or with one between them. */
function moment({ random, all }: Context): RandomFilter {
  const part = random.pick(["created", "lastModified"] as const);
  const timeOf = (resource: Resource) => Date.parse((resource["meta"] as Record<string, string>)[part] ?? "");
  const other = timeOf(random.pick(all)) + random.pick([0, 500, -1000]);
  const op = random.pick(["eq", "ne", "gt", "ge", "lt", "le"] as const);
  return {
    text: `meta.${part} ${caseOf(random, op)} "${new Date(other).toISOString()}"`,
    fits: (resource) => holds(op, Math.sign(timeOf(resource) - other)),
  };
}

function comparison({ random, attributes }: Context): RandomFilter {
  const isList = random.below(3) === 0;
  const path = random.pick(isList ? attributes.lists : attributes.single);
  const op = random.pick(operators);
  const other = random.pick(words);
  const isExact = attributes.exact.has(path);
  return {
    text: `${path} ${caseOf(random, op)} ${JSON.stringify(other)}`,
    fits: (resource) =>
      valuesOf(resource, path, attributes).some((each) => compare(op, each, { other, isExact })),
  };
}

/** The values of a path; one that is undefined stands for none. */
function valuesOf(resource: Resource, path: string, { elements }: Attributes): unknown[] {
  const [name = "", part] = path.split(".");
  const value = resource[name];
  if (Array.isArray(value) && value.length > 0) {
    const usual = path === `${elements.list}.type` ? elements.usualType : undefined;
    return value.map((each: Resource) => each[part ?? "value"] ?? usual);
  }
  if (Array.isArray(value)) {
    return [undefined];
  }
  return [part === undefined ? value : (value as Resource | undefined)?.[part]];
}

function compare(
  op: Operator,
  value: unknown,
  { other, isExact }: { other: string; isExact: boolean },
): boolean {
  if (typeof value !== "string") {
    return op === "ne";
  }
  const fold = (text: string) => (isExact ? text : text.toLowerCase());
  const [left, right] = [fold(value), fold(other)];
  switch (op) {
    case "co":
      return left.includes(right);
    case "sw":
      return left.startsWith(right);
    case "ew":
      return left.endsWith(right);
    default:
      // Byte by byte, as the database is told to compare.
      return holds(op, Buffer.compare(Buffer.from(left), Buffer.from(right)));
  }
}

function holds(op: Exclude<Operator, "co" | "sw" | "ew">, order: number): boolean {
  return {
    eq: order === 0,
    ne: order !== 0,
    gt: order > 0,
    ge: order >= 0,
    lt: order < 0,
    le: order <= 0,
  }[op];
}

const isPresent = (value: unknown) => value !== undefined && value !== "";
const caseOf = ({ pick }: Random, text: string) => pick([text, text.toUpperCase(), text.toLowerCase()]);
