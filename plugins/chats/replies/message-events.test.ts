import { describe, expect, it } from "vitest";
import { requireSize, toKept } from "./message-events.ts";

const list = (column: string, entries: unknown[], way = "append") => ({ kind: "list", column, entries, way });

describe("what an event leaves behind", () => {
  it.each<[string, unknown, unknown]>([
    [
      "status",
      { description: "Looking", done: false },
      list("status_history", [{ description: "Looking", done: false }]),
    ],
    ["source", { source: { name: "a" } }, list("sources", [{ source: { name: "a" } }])],
    ["citation", { source: {}, type: null }, list("sources", [{ source: {}, type: null }])],
    ["citation", { type: "code_execution", id: "1" }, undefined],
    [
      "files",
      { files: [{ type: "image", url: "/x" }] },
      list("files", [{ type: "image", url: "/x" }], "prepend"),
    ],
    ["chat:message:files", { files: [{ type: "image", url: "/x" }] }, undefined],
    ["embeds", { embeds: ["<b>"] }, list("embeds", ["<b>"], "prepend")],
    ["embeds", { embeds: ["<b>"], replace: true }, list("embeds", ["<b>"], "replace")],
    ["chat:message:embeds", { embeds: ["<b>"] }, undefined],
    ["message", { content: "more" }, { kind: "text", text: "more", appends: true }],
    ["chat:message:delta", { content: "more" }, undefined],
    ["replace", { content: "all" }, { kind: "text", text: "all", appends: false }],
    ["chat:message", { content: "all" }, undefined],
    ["chat:message:error", { error: { content: "no" } }, { kind: "error", error: { content: "no" } }],
    ["chat:message:error", { error: "no" }, { kind: "error", error: { content: "no" } }],
    ["chat:message:follow_ups", { follow_ups: ["a?"] }, { kind: "key", key: "followUps", value: ["a?"] }],
    ["chat:message:favorite", { favorite: true }, { kind: "key", key: "favorite", value: true }],
    ["chat:title", "Moon", { kind: "title", title: "Moon" }],
    ["chat:title", { title: "Moon" }, { kind: "title", title: "Moon" }],
    ["chat:tags", ["a", "b"], { kind: "tags", names: ["a", "b"] }],
    ["chat:completion", { done: true, output: [] }, undefined],
    ["notification", { type: "info", content: "Hi" }, undefined],
    ["chat:tasks:cancel", undefined, undefined],
    ["constructor", {}, undefined],
  ])("%s %j", (type, data, expected) => {
    expect(toKept({ type, data })).toEqual(expected);
  });

  it.each<[string, unknown, RegExp]>([
    ["status", "done", /^status is no object/],
    ["status", undefined, /^status is no object/],
    ["source", [], /^source is no object/],
    ["files", { files: "x" }, /^files\.files is no list/],
    ["files", { files: ["x"] }, /^files\.files is no object/],
    ["embeds", { embeds: [1] }, /^embeds\.embeds is no list of texts/],
    ["message", { content: 1 }, /^message\.content is no text/],
    ["replace", {}, /^replace\.content is no text/],
    ["chat:message:error", {}, /^chat:message:error\.error is no object/],
    ["chat:message:follow_ups", { follow_ups: Array(101).fill("a") }, /at most 100/],
    ["chat:message:favorite", { favorite: "yes" }, /is no boolean/],
    ["chat:title", { title: " " }, /needs a title/],
    ["chat:tags", ["x".repeat(201)], /^chat:tags is no list/],
  ])("%s %j is refused, naming the field", (type, data, text) => {
    expect(() => toKept({ type, data })).toThrow(text);
  });

  it("nothing that is larger than a megabyte", () => {
    expect(() => requireSize({ type: "status", data: { text: "ä".repeat(600_000) } })).toThrow(/1 MB/);
    expect(() => requireSize({ type: "status", data: { text: "a".repeat(600_000) } })).not.toThrow();
  });
});
