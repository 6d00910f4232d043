import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { type ScimClient, scimClient, startScim } from "../scim.fixture.ts";

// 1,000 random filters: what the database finds is what a plain reading of RFC 7644, 3.4.2.2, finds in memory.

let app: App;
let provider: ScimClient;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
});

afterAll(() => app?.close());

type Resource = Record<string, unknown>;
interface Test {
  readonly text: string;
  fits(resource: Resource): boolean;
}

/** The same numbers on every run. */
function createRandom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const random = createRandom(27);
const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;
const words = [
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
const attributes = [
  "userName",
  "displayName",
  "externalId",
  "name.givenName",
  "name.familyName",
  "name.formatted",
  "title",
  "id",
];
const lists = ["emails", "emails.value", "emails.type", "groups.display", "groups"];
const exact = new Set(["externalId", "id"]);
const operators = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;

function valuesOf(resource: Resource, path: string): unknown[] {
  const [name = "", part] = path.split(".");
  const value = resource[name];
  if (Array.isArray(value) && value.length > 0) {
    return value.map(
      (each: Resource) => each[part ?? "value"] ?? (path === "emails.type" ? "work" : undefined),
    );
  }
  if (Array.isArray(value)) {
    return [undefined];
  }
  return [part === undefined ? value : (value as Resource | undefined)?.[part]];
}

/** Byte by byte, as the database is told to compare. */
function order(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function compare(op: (typeof operators)[number], value: unknown, other: string, isExact: boolean): boolean {
  if (typeof value !== "string") {
    return op === "ne";
  }
  const fold = (text: string) => (isExact ? text : text.toLowerCase());
  const [left, right] = [fold(value), fold(other)];
  return {
    eq: () => left === right,
    ne: () => left !== right,
    co: () => left.includes(right),
    sw: () => left.startsWith(right),
    ew: () => left.endsWith(right),
    gt: () => order(left, right) > 0,
    ge: () => order(left, right) >= 0,
    lt: () => order(left, right) < 0,
    le: () => order(left, right) <= 0,
  }[op]();
}

const isPresent = (value: unknown) => value !== undefined && value !== "";
const caseOf = (text: string) => pick([text, text.toUpperCase(), text.toLowerCase()]);

function comparison(): Test {
  const isList = random(3) === 0;
  const path = isList ? pick(lists) : pick(attributes);
  const op = pick(operators);
  const value = pick(words);
  const isExact = exact.has(path) || path === "groups";
  return {
    text: `${path} ${caseOf(op)} ${JSON.stringify(value)}`,
    fits: (resource) => valuesOf(resource, path).some((each) => compare(op, each, value, isExact)),
  };
}

function leaf(): Test {
  switch (random(6)) {
    case 0: {
      const path = pick([...attributes, ...lists, "name", "active"]);
      return {
        text: `${path} pr`,
        fits: (resource) =>
          path === "name"
            ? Object.values((resource["name"] ?? {}) as Resource).some(isPresent)
            : valuesOf(resource, path).some(isPresent),
      };
    }
    case 1: {
      const flag = random(2) === 0;
      const op = pick(["eq", "ne"] as const);
      return {
        text: `active ${op} ${flag}`,
        fits: (resource) => (resource["active"] === flag) === (op === "eq"),
      };
    }
    case 2: {
      const [inner, other] = [element(), element()];
      const word = pick(["and", "or"] as const);
      return {
        text: `emails[${inner.text} ${word} not (${other.text})]`,
        fits: (resource) =>
          ((resource["emails"] ?? []) as Resource[]).some((each) =>
            word === "and" ? inner.fits(each) && !other.fits(each) : inner.fits(each) || !other.fits(each),
          ),
      };
    }
    default:
      return comparison();
  }
}

function element(): Test {
  const path = pick(["value", "type"]);
  const op = pick(operators);
  const value = pick(words);
  return {
    text: `${path} ${op} ${JSON.stringify(value)}`,
    fits: (each) => compare(op, path === "type" ? (each["type"] ?? "work") : each[path], value, false),
  };
}

function tree(depth: number): Test {
  if (depth === 0 || random(3) === 0) {
    return leaf();
  }
  switch (random(4)) {
    case 0: {
      const inner = tree(depth - 1);
      return { text: `${caseOf("not")} (${inner.text})`, fits: (resource) => !inner.fits(resource) };
    }
    case 1: {
      const [a, b, c] = [leaf(), leaf(), leaf()];
      // Without brackets: `and` binds tighter than `or` (S97).
      return {
        text: `${a.text} or ${b.text} and ${c.text}`,
        fits: (resource) => a.fits(resource) || (b.fits(resource) && c.fits(resource)),
      };
    }
    default: {
      const [a, b] = [tree(depth - 1), tree(depth - 1)];
      const word = pick(["and", "or"] as const);
      return {
        text: `(${a.text}) ${caseOf(word)} (${b.text})`,
        fits: (resource) =>
          word === "and" ? a.fits(resource) && b.fits(resource) : a.fits(resource) || b.fits(resource),
      };
    }
  }
}

it("1,000 random filters find what is found in memory", { timeout: 240_000 }, async () => {
  const made: string[] = [];
  for (let index = 0; index < 40; index++) {
    const userName = `${pick(["ana", "ben", "zoe", "x.y"])}${index}@${pick(["x", "home"])}.test`;
    const name = { givenName: pick(words), ...(random(2) === 0 && { familyName: pick(words) }) };
    const emails = [
      { value: userName, primary: true, ...(random(2) === 0 && { type: "work" }) },
      { value: `${pick(["ana", "B"])}@home.test`, type: "home" },
    ];
    const user = await provider.user(userName, {
      ...(random(4) > 0 && { displayName: `${pick(words)}${index}` }),
      ...(random(3) > 0 && { name }),
      ...(random(2) === 0 && { externalId: `${pick(words)}${index}` }),
      ...(random(3) > 0 && { emails: emails.slice(0, random(3)) }),
      active: random(3) > 0,
    });
    made.push(user.id);
  }
  await provider.group("Ana and Ben", made.slice(0, 10));
  await provider.group("home", made.slice(5, 20));
  await app.user();
  const all = (await provider.call("GET /Users?count=100")).body.Resources as Resource[];
  expect(all.length).toBe(42);

  let found = 0;
  for (let count = 0; count < 1000; count++) {
    const { text, fits } = tree(3);
    const names = (await provider.find("Users", text)).toSorted();
    const expected = all.filter(fits).map((each) => each["userName"] as string);
    expect([text, names]).toEqual([text, expected.toSorted()]);
    found += names.length > 0 && names.length < all.length ? 1 : 0;
  }
  // Filters that find all or nothing would say little.
  expect(found).toBeGreaterThan(400);
});
