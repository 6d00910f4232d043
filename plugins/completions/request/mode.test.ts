import { describe, expect, it } from "vitest";
import { toDelivery, toToolMode } from "./mode.ts";

const chat = { chat_id: "c", id: "m", stream: true };
const legacy = { params: { function_calling: "legacy" } };
const tools = [{ type: "function" }];

describe("where a completion goes", () => {
  it.each([
    ["nothing but a question", {}, "http"],
    ["a stream", { stream: true }, "http"],
    ["a chat, a message and a stream", chat, "chat-attached"],
    ["the same with a session", { ...chat, session_id: "s" }, "chat"],
    ["a temporary chat", { ...chat, chat_id: "temporary:1", session_id: "s" }, "chat"],
    ["a chat without a stream", { ...chat, stream: false, session_id: "s" }, "http"],
    ["a chat with no word of streaming", { chat_id: "c", id: "m" }, "http"],
    ["a chat without a message", { chat_id: "c", stream: true, session_id: "s" }, "http"],
    ["no parent and no chat", { parent_id: null, stream: true, session_id: "s" }, "new-chat"],
    [
      "no parent and an empty chat",
      { parent_id: null, chat_id: "", stream: true, session_id: "s" },
      "new-chat",
    ],
    ["no parent without a session", { parent_id: null, stream: true }, "http"],
    ["a parent", { parent_id: "p", stream: true, session_id: "s" }, "http"],
  ])("%s", (_name, request, expected) => {
    expect(toDelivery(request)).toBe(expected);
  });
});

describe("who runs tools", () => {
  it.each([
    ["nobody, when none are asked for", {}, undefined, "none"],
    ["the caller, with definitions", { tools, tool_ids: ["a"] }, undefined, "caller"],
    ["the caller, with an empty list", { ...chat, tools: [] }, undefined, "caller"],
    [
      "the caller, with definitions in legacy mode",
      { ...legacy, tools, tool_ids: ["a"] },
      "legacy",
      "caller",
    ],
    ["the caller, who gets the calls of offered tools", { tool_ids: ["a"] }, undefined, "unexecuted"],
    ["the same on a stream", { tool_ids: ["a"], stream: true }, "native", "unexecuted"],
    ["a task model, by the request", { ...legacy, tool_ids: ["a"] }, undefined, "legacy"],
    ["a task model, by the model", { tool_ids: ["a"] }, "legacy", "legacy"],
    ["a task model, bound to a chat", { ...chat, ...legacy, tool_ids: ["a"] }, undefined, "legacy"],
    ["a task model, without a tool to choose", { ...legacy, tool_ids: [] }, undefined, "legacy"],
    ["nobody, in legacy mode without ids", { ...chat, ...legacy }, undefined, "none"],
    ["the loop, bound to a chat", { ...chat }, undefined, "native"],
    [
      "the loop, where the request overrides the model",
      { ...chat, params: { function_calling: "native" } },
      "legacy",
      "native",
    ],
  ])("%s", (_name, request, saved, expected) => {
    expect(toToolMode(request, saved)).toBe(expected);
  });
});
