import { describe, expect, it, test } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { fromAssistant, fromUser, textPart, thinking } from "#test/support/wire-parts.ts";
import {
  commonTool,
  conversations,
  parameters,
  png,
  refused,
  result,
  schema,
  tool,
  turns,
  user,
} from "../requests.fixture.ts";
import { CallLabels, createLongLabels } from "../call-labels.ts";
import { toTranslated } from "../schema.ts";
import { toCommon } from "./to-common.ts";

const base = { model: "m", max_tokens: 9, messages: [fromUser("Hi")] };

function convert(body: object, passthrough: readonly string[] | "*" = []) {
  const dropped: string[] = [];
  const request = toCommon(toTranslated(structuredClone({ ...base, ...body })), {
    support: { passthroughParams: passthrough },
    documents: new Map(),
    labels: new CallLabels(createLongLabels()),
    dropped: (type) => void dropped.push(type),
  });
  return { request, dropped };
}

describe("the conversation", () => {
  it.each(Object.entries(conversations))("translates %s", (_name, [sent, messages]) => {
    expect(convert(sent).request.messages).toEqual(messages);
  });

  it.each([
    [["reasoning"], "reasoning"],
    [["top_k", "reasoning_content"], "reasoning_content"],
    ["*" as const, "reasoning_content"],
  ])("gives earlier thoughts back to upstreams that take them: %j", (passthrough, key) => {
    const sent = turns(fromAssistant([thinking("T", "s"), textPart("Yes")]));
    expect(convert(sent, passthrough).request.messages).toEqual([fromAssistant("Yes", { [key]: "T" })]);
  });
});

describe("parameters", () => {
  it.each(Object.entries(parameters))("translates %s", (_name, [sent, expected]) => {
    const { messages: _messages, ...rest } = convert(sent).request;
    expect(rest).toEqual({ model: "m", max_tokens: 9, ...expected });
  });

  const foreign = {
    top_k: 5,
    service_tier: "auto",
    container: "c",
    metadata: { user_id: "u" },
    seed: 1,
    chat_id: "c1",
    tool_ids: ["t"],
    stream_options: {},
  };

  it.each([
    ["none of them by default", [], {}],
    ["those that the connection lists", ["top_k", "seed", "chat_id"], { top_k: 5, seed: 1 }],
    ["the caller's user, where `metadata` is listed", ["metadata"], { user: "u" }],
    [
      "all but the platform's own",
      "*" as const,
      { top_k: 5, service_tier: "auto", container: "c", seed: 1, user: "u" },
    ],
  ])("passes on %s", (_name, passthrough, expected) => {
    const { messages: _messages, ...rest } = convert(foreign, passthrough).request;
    expect(rest).toEqual({ model: "m", max_tokens: 9, ...expected });
  });

  it("passes on a `user` of the caller's own before that of `metadata`", () => {
    expect(convert({ ...foreign, user: "own" }, "*").request["user"]).toBe("own");
    expect(convert({ metadata: { user_id: null } }, "*").request).not.toHaveProperty("user");
  });

  it("leaves out tools that only their vendor runs, and says so", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const { request, dropped } = convert({
      tools: [search, tool],
      tool_choice: { type: "tool", name: "web_search" },
    });
    expect([request.tools, request["tool_choice"], dropped]).toEqual([
      [commonTool],
      undefined,
      ["web_search_20250305"],
    ]);
  });
});

test.each(Object.entries(refused))("%s is refused by its place", (_name, [sent, place]) => {
  let error: unknown;
  try {
    convert(sent);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(AppError);
  const { code, detail } = error as AppError;
  expect([code, (detail as { loc: unknown[] }[]).map(({ loc }) => loc.join("."))]).toEqual([
    "unprocessable",
    [place],
  ]);
});

test("an unknown block is named by its type", () => {
  expect(() => convert(user({ type: "hologram" }))).toThrow(
    expect.objectContaining({
      detail: [expect.objectContaining({ msg: 'blocks of the type "hologram" are not supported here' })],
    }),
  );
});

test("what the caller sent is left alone", () => {
  const sent = {
    ...base,
    ...user(result("a", [png])),
    output_config: { format: { type: "json_schema", schema } },
  };
  const before = structuredClone(sent);
  toCommon(toTranslated(sent), {
    support: { passthroughParams: "*" },
    documents: new Map(),
    labels: new CallLabels(createLongLabels()),
    dropped: () => {},
  });
  expect(sent).toEqual(before);
});
