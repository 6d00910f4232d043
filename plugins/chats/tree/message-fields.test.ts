import { expect, it } from "vitest";
import { splitMessage, splitNewMessage, timestampOf } from "./message-fields.ts";
import { parseSearch } from "../search/search-query.ts";
import { toOpenHead, toOpenMessage } from "../sharing/share-view.ts";
import { toStorableJson } from "../storable.ts";

it.each([
  [
    "columns by their wire names",
    { model: "m", statusHistory: [1] },
    { model_id: "m", status_history: [1] },
    {},
    ["model", "statusHistory"],
  ],
  ["unknown keys stay beside them", { modelIdx: 0, odd: { a: 1 } }, {}, { modelIdx: 0, odd: { a: 1 } }, []],
  ["a null empties its column and is remembered", { error: null }, { error: null }, { error: null }, []],
  [
    "so does what does not fit",
    { done: "yes", model: 5 },
    { done: null, model_id: null },
    { done: "yes", model: 5 },
    [],
  ],
  ["links are nobody's column", { id: "a", parentId: null, childrenIds: [] }, {}, {}, []],
  [
    "names of the language are only names",
    { constructor: 1, toString: 2 },
    {},
    { constructor: 1, toString: 2 },
    [],
  ],
])("%s", (_name, message, set, extra, drop) => {
  expect(splitMessage(message)).toEqual({ set, extra, drop });
});

it("a new reply is not done until it says so; other messages say nothing", () => {
  expect(splitNewMessage({ role: "assistant" }).set["done"]).toBe(false);
  expect(splitNewMessage({ role: "assistant", done: true }).set["done"]).toBe(true);
  expect("done" in splitNewMessage({ role: "user" }).set).toBe(false);
});

it.each([
  [1_700_000_000, 1_700_000_000],
  [1_700_000_000_000, undefined],
  [-1, undefined],
  ["1", undefined],
  [1.5, undefined],
])("a timestamp of %s is %s", (timestamp, expected) => {
  expect(timestampOf({ timestamp })).toBe(expected);
});

it.each([
  ["moon", "moon", { archived: false }],
  ["tag:Big_Plans moon", "moon", { archived: false, tags: ["big_plans"] }],
  ['tag:"Big Plans" tag:b', "", { archived: false, tags: ["big_plans", "b"] }],
  ["tag:none pinned:TRUE", "", { archived: false, untagged: true, pinned: true }],
  ["archived:true shared:false folder:f x", "x", { archived: true, shared: false }, "f"],
  ['folder:"Big Plans" moon', "moon", { archived: false }, "Big Plans"],
  ["pinned:maybe", "pinned:maybe", { archived: false }],
  ["http://tag:x", "http://tag:x", { archived: false }],
  ["tag: x", "x", { archived: false }],
])("the search %s", (text, words, filter, folder?: string) => {
  expect(parseSearch(text)).toEqual({ words, filter, ...(folder === undefined ? {} : { folder }) });
});

it("shows visitors what was said and nothing else", () => {
  const message = {
    id: "a",
    role: "assistant",
    parentId: null,
    childrenIds: [],
    content: [
      { type: "text", text: "hi", id: "x" },
      { type: "image_url", image_url: { url: "/files/f" } },
    ],
    model: "secret",
    files: [{ id: "f" }],
    sources: [1],
    user_id: "u",
    usage: {},
    output: [
      { type: "reasoning", content: [{ type: "output_text", text: "hm" }] },
      { type: "function_call_output", output: "x" },
    ],
  };
  expect(toOpenHead({ title: "T", models: ["secret"], files: [1], params: { system: "s" } })).toEqual({
    title: "T",
  });
  expect(toOpenMessage(message)).toEqual({
    id: "a",
    role: "assistant",
    parentId: null,
    childrenIds: [],
    content: [{ type: "text", text: "hi" }],
    output: [{ type: "reasoning", content: [{ type: "output_text", text: "hm" }] }],
  });
});

it("writes JSON that the database can hold, and leaves other texts alone", () => {
  expect(JSON.parse(toStorableJson({ "a\u0000": ["x\u0000y", "\ud800", "😀", 1, null] }))).toEqual({
    a: ["xy", "\ufffd", "😀", 1, null],
  });
  expect(toStorableJson({ a: String.raw`\u0000` })).toBe(JSON.stringify({ a: String.raw`\u0000` }));
});
