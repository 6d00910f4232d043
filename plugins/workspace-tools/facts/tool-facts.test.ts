import { expect, it } from "vitest";
import { readDocComment } from "./doc-comment.ts";
import { toToolFacts } from "./tool-facts.ts";
import { toSchema } from "./type-schema.ts";

it.each([
  ["string", { type: "string" }],
  ["integer", { type: "integer" }],
  ['"celsius" | "fahrenheit"', { type: "string", enum: ["celsius", "fahrenheit"] }],
  ["'one'", { type: "string", enum: ["one"] }],
  ["1 | 2 | 3", { type: "number", enum: [1, 2, 3] }],
  ["string | number", { type: ["string", "number"] }],
  ["?string", { type: ["string", "null"] }],
  ["string | null", { type: ["string", "null"] }],
  ["string[]", { type: "array", items: { type: "string" } }],
  ["Array<number[]>", { type: "array", items: { type: "array", items: { type: "number" } } }],
  ['("a"|"b")[]', { type: "array", items: { type: "string", enum: ["a", "b"] } }],
  ["Record<string, boolean>", { type: "object", additionalProperties: { type: "boolean" } }],
  [
    "{lat: number, lon?: number}",
    { type: "object", properties: { lat: { type: "number" }, lon: { type: "number" } }, required: ["lat"] },
  ],
  ["*", {}],
  ["Weather", {}],
  ["", {}],
  ["string[", { type: "array", items: { type: "string" } }],
  ["(".repeat(5_000), {}],
])("%s", (type, schema) => {
  expect(toSchema(type)).toEqual(schema);
});

it("reads parameters, defaults, choices and members from a doc comment", () => {
  const comment = `/**
   * Finds trains.
   * Times are local.
   *
   * @param {string} from - Where the trip begins,
   *   as people call it
   * @param {"fast"|"cheap"} [by=fast] What counts
   * @param {number} [limit=3] - How many
   * @param {string[]=} via - Stops
   * @param {object} at - When
   * @param {string} at.day - As 2026-11-25
   * @returns {object[]} trips
   * @title Trains
   * @parallel
   */`;
  expect(readDocComment(comment)).toEqual({
    description: "Finds trains.\nTimes are local.",
    names: ["from", "by", "limit", "via", "at"],
    root: undefined,
    title: "Trains",
    isParallel: true,
    parameters: {
      type: "object",
      properties: {
        from: { type: "string", description: "Where the trip begins, as people call it" },
        by: { type: "string", enum: ["fast", "cheap"], description: "What counts", default: "fast" },
        limit: { type: "number", description: "How many", default: 3 },
        via: { type: "array", items: { type: "string" }, description: "Stops" },
        at: {
          type: "object",
          description: "When",
          properties: { day: { type: "string", description: "As 2026-11-25" } },
          required: ["day"],
        },
      },
      required: ["from", "at"],
    },
  });
});

const shape = { functions: [], data: {}, header: {}, tools: {}, comments: {} };
const comment = "/** Adds.\n * @param {number} a\n * @param {number} b */";
const rooted = "/** Adds.\n * @param {object} params\n * @param {number} params.a */";

it.each([
  ["export function add(a, b, ctx) {}", comment, ["a", "b"]],
  ["export const add = async (a, b) => 1", comment, ["a", "b"]],
  ["export async function add({ a, b }, ctx) {}", comment, undefined],
  ["export const add = ({ a, b }) => 1", comment, undefined],
  ["export function add(params) {}", comment, undefined],
  ["export function add(params) {}", rooted, undefined],
])("%s gets its arguments as it takes them", (source, doc, positions) => {
  const facts = toToolFacts({ ...shape, functions: ["add"], comments: { add: doc } }, source);
  expect(facts.specs).toMatchObject([{ name: "add", description: "Adds.", entry: "add" }]);
  expect(facts.specs[0]?.positions).toEqual(positions);
});

it("takes the declared tools before comments, and properties for a whole schema", () => {
  const tools = {
    weather: { description: "Tells it", parallel: true, parameters: { city: { type: "string" } } },
    time: {},
  };
  const found = toToolFacts({ ...shape, tools, functions: ["add"], comments: { add: comment } }, "");
  expect(found.specs).toEqual([
    {
      name: "weather",
      description: "Tells it",
      parameters: { type: "object", properties: { city: { type: "string" } } },
      entry: "tools.weather",
      parallel: true,
    },
    { name: "time", description: "", parameters: { type: "object", properties: {} }, entry: "tools.time" },
  ]);
});

it.each([
  [{}, /neither/],
  [{ tools: { "bad name": {} } }, /"bad name" has to be/],
  [{ tools: { a: { parameters: [] } } }, /tools\.a\.parameters/],
  [{ tools: { a: { parameters: { type: "string" } } } }, /tools\.a\.parameters/],
  [{ tools: { a: { description: 3 } } }, /tools\.a\.description/],
  [{ tools: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, {}])) }, /at most 100/],
])("refuses %j", (given, message) => {
  expect(() => toToolFacts({ ...shape, ...given }, "")).toThrow(message);
});
