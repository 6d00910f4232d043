import { expect, test } from "vitest";
import { applyEvents, changedMessages, textOf } from "./reply.ts";
import type { ChatMessage } from "./types.ts";

const empty: ChatMessage = {
  id: "r",
  parentId: "q",
  childrenIds: [],
  role: "assistant",
  content: "",
  timestamp: 1,
  done: false,
};
const item = (text = "") => ({
  type: "message",
  id: "msg_1",
  status: "in_progress",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const begin = { type: "chat:completion", data: { output: [item()] } };
const delta = (content: string, kind = "text", item_id = "msg_1") => ({
  type: "chat:message:delta",
  data: { item_id, kind, content },
});

test("pieces grow the item that was announced, and leave the message before as it was", () => {
  const first = applyEvents(empty, [begin, delta("Hel")]);
  const second = applyEvents(first, [delta("lo")]);
  expect([textOf(empty), textOf(first), textOf(second)]).toEqual(["", "Hel", "Hello"]);
});

test("thoughts and arguments go into their own items", () => {
  const output = [
    { type: "reasoning", id: "r_1", content: [{ type: "output_text", text: "" }] },
    { type: "function_call", id: "fc_1", name: "look", arguments: "" },
  ];
  const grown = applyEvents(empty, [
    { type: "chat:completion", data: { output } },
    delta("Hm", "reasoning", "r_1"),
    delta('{"a"', "arguments", "fc_1"),
    delta(":1}", "arguments", "fc_1"),
  ]);
  expect(grown.output).toMatchObject([{ content: [{ text: "Hm" }] }, { arguments: '{"a":1}' }]);
  expect(textOf(grown)).toBe("");
});

test("the end brings the whole reply and its usage", () => {
  const data = { done: true, output: [item("Hello there")], usage: { total_tokens: 7 } };
  const ended = applyEvents(applyEvents(empty, [begin, delta("Hel")]), [{ type: "chat:completion", data }]);
  expect(ended).toMatchObject({ done: true, content: "Hello there", usage: { total_tokens: 7 } });
});

test("statuses, sources, files and follow-ups are gathered; sources that come again count once", () => {
  const source = { source: { name: "A" }, document: ["x"], metadata: [] };
  const message = applyEvents(empty, [
    { type: "status", data: { description: "Searching" } },
    { type: "source", data: source },
    { type: "chat:completion", data: { sources: [source] } },
    { type: "source", data: { ...source, type: "code_execution" } },
    { type: "files", data: { files: [{ type: "image", id: "f1", name: "f1" }] } },
    { type: "files", data: { files: [{ type: "image", id: "f2", name: "f2" }] } },
    { type: "chat:message:follow_ups", data: { follow_ups: ["And then?"] } },
  ]);
  expect(message.statusHistory).toHaveLength(1);
  expect(message.sources).toEqual([source]);
  expect(message.files?.map(({ id }) => id)).toEqual(["f2", "f1"]);
  expect(message.followUps).toEqual(["And then?"]);
});

test("a text put in place of another one replaces what the output says", () => {
  const grown = applyEvents(empty, [begin, delta("Hello")]);
  const replaced = applyEvents(grown, [{ type: "replace", data: { content: "Bye" } }]);
  expect([textOf(replaced), replaced.content]).toEqual(["Bye", "Bye"]);
});

test("errors and stops end a reply, with what was written so far", () => {
  const failed = applyEvents(empty, [
    begin,
    delta("Hel"),
    { type: "chat:message:error", data: { error: { content: "Rate limit" } } },
  ]);
  expect(failed).toMatchObject({ done: true, error: { content: "Rate limit" } });
  expect(textOf(failed)).toBe("Hel");
  expect(applyEvents(empty, [{ type: "chat:tasks:cancel" }]).done).toBe(true);
});

test("the work for a piece does not grow with the reply: only the item that grows is copied", () => {
  const before = applyEvents(empty, [
    { type: "chat:completion", data: { output: [{ ...item("x".repeat(1_000_000)), id: "msg_0" }] } },
    begin,
  ]);
  const after = applyEvents(before, [delta("a"), delta("b")]);
  expect(after.output?.[0]).toBe(before.output?.[0]);
  expect(after.output?.[1]).not.toBe(before.output?.[1]);
});

test("takes messages with a text out of what a function gave back, and nothing else", () => {
  const good = { id: "a", content: "new", role: "assistant" };
  const messages = [
    good,
    null,
    "b",
    { id: "c" },
    { content: "d" },
    { id: 1, content: "e" },
    { id: "f", content: 2 },
  ];
  expect(changedMessages({ messages })).toEqual([good]);
  for (const answer of [null, undefined, "text", 3, [], {}, { messages: "a" }, { messages: { id: "a" } }]) {
    expect(changedMessages(answer)).toEqual([]);
  }
});
