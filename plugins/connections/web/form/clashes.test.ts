import { describe, expect, it } from "vitest";
import type { Card } from "../connections.svelte.ts";
import {
  findClashes,
  findTwin,
  hasTakenPrefix,
  proposePrefix,
  toOffered,
  withoutClashes,
} from "./clashes.ts";
import { toDraft } from "./draft.ts";

const card = (url: string, models: readonly string[], config: object = {}): Card =>
  ({
    kind: "common",
    index: 0,
    url,
    key: "",
    config,
    id: url,
    isEnabled: true,
    state: { models },
  }) as unknown as Card;
const draft = (change: object = {}) => ({ ...toDraft(), url: "https://api.example.com/v1", ...change });

describe("model ids that two connections offer", () => {
  const a = card("https://a.test/v1", ["m-fast", "m-slow"]);

  it("are named with the connection that has them, prefix and fixed ids included", () => {
    expect(findClashes(toOffered(draft(), ["m-fast", "other"]), [a])).toEqual([{ id: "m-fast", by: a }]);
    expect(findClashes(toOffered(draft({ prefix: "b" }), ["m-fast"]), [a])).toEqual([]);
    expect(findClashes(toOffered(draft({ modelIds: "m-slow, x" }), []), [a])).toEqual([
      { id: "m-slow", by: a },
    ]);
    expect(findClashes(["m-fast"], [{ ...a, isEnabled: false }])).toEqual([]);
  });

  it("can be left out of the new one", () => {
    const clashes = findClashes(toOffered(draft(), ["m-fast", "other"]), [a]);
    expect(withoutClashes(draft(), ["m-fast", "other"], clashes)).toEqual(["other"]);
  });

  it("are told apart by a prefix that nobody has", () => {
    expect(proposePrefix("https://api.example.com/v1", [])).toBe("example");
    expect(proposePrefix("https://api.example.com/v1", [card("x", [], { prefix_id: "example" })])).toBe(
      "example2",
    );
    expect(proposePrefix("http://127.0.0.1:8000", [])).toBe("second");
  });
});

it("an address is taken by a connection with the same prefix, however it is written", () => {
  const same = card("https://API.example.com/v1/", []);
  expect(findTwin(draft(), [same])).toBe(same);
  expect(findTwin(draft({ prefix: "b" }), [same])).toBeUndefined();
  expect(findTwin(draft({ kind: "runtime" }), [same])).toBeUndefined();
});

it("a prefix is taken when another connection has it, unless it is stored so", () => {
  const other = card("x", [], { prefix_id: "second" });
  const own = card("y", [], { prefix_id: "second" });
  expect(hasTakenPrefix(draft({ prefix: " second " }), [other])).toBe(true);
  expect(hasTakenPrefix(draft({ prefix: "third" }), [other])).toBe(false);
  expect(hasTakenPrefix(draft({ prefix: "second" }), [other], own)).toBe(false);
  expect(hasTakenPrefix(draft(), [card("x", [])])).toBe(false);
});
