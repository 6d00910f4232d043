import { describe, expect, it } from "vitest";
import type { ChatMessage, ContextStep } from "#plugins/chats/service.ts";
import { thresholdOf } from "./config.ts";
import { fillPrompt, toPieces } from "./prompt.ts";
import { contextTokens, estimateMessages } from "./size.ts";
import { afterSummary, splitBranch } from "./split.ts";

const message = (id: string, role: string, more: object = {}): ChatMessage => ({
  id,
  role,
  content: id,
  parentId: null,
  childrenIds: [],
  ...more,
});
/** `uauau…`: questions and answers by number. */
const talk = (roles: string, more: object = {}) =>
  [...roles].map((role, at) => message(`${role}${at}`, role === "u" ? "user" : "assistant", more));
const ids = (messages: readonly ChatMessage[] | undefined) => messages?.map(({ id }) => id).join(" ");

const step = (role: string, more: Partial<ContextStep> = {}): ContextStep => ({
  role,
  chars: 400,
  usage: null,
  contextTokens: null,
  summaryChars: null,
  ...more,
});
const used = (usage: Record<string, number>) => step("assistant", { usage });

describe("the size of a context, told from its end", () => {
  it.each<[string, ContextStep[], number]>([
    ["nothing", [], 0],
    ["four characters a token, and what wraps a message", [step("user")], 104],
    ["the last reply's usage", [used({ prompt_tokens: 900, completion_tokens: 100 })], 1000],
    [
      "what came after that reply",
      [step("user"), used({ prompt_tokens: 900, completion_tokens: 100 }), step("user")],
      1104,
    ],
    [
      "the latest call of a reply, not the sum of its calls",
      [used({ prompt_tokens: 10, completion_tokens: 5, input_tokens: 99, output_tokens: 9 })],
      15,
    ],
    ["the names of a local runtime", [used({ prompt_eval_count: 7, eval_count: 2 })], 9],
    ["usage that tells nothing is passed over", [used({ prompt_tokens: 0 }), step("user")], 208],
    ["a summary ends it", [step("user"), step("assistant", { summaryChars: 40 }), step("user")], 104 + 14],
    [
      "what is left after compaction counts, not what was used before",
      [step("user"), step("assistant", { contextTokens: 50, usage: { prompt_tokens: 900 } })],
      154,
    ],
  ])("%s", (_name, steps, expected) => {
    expect(contextTokens(steps)).toBe(expected);
  });
});

describe("a branch is split", () => {
  it.each<[string, string, object, string | undefined, string | undefined]>([
    ["nothing but a question stays whole", "u", {}, undefined, undefined],
    ["a turn stays whole", "ua", {}, undefined, undefined],
    ["before the last question at least", "uau", {}, "u0 a1", "u2"],
    ["the wanted share stays", "uauauauaua", {}, "u0 a1 u2 a3 u4 a5", "u6 a7 u8 a9"],
    ["a share that would split a turn keeps that turn", "uauauauau", {}, "u0 a1 u2 a3", "u4 a5 u6 a7 u8"],
    ["never less than a tenth", "uauauauaua", { percentage: 0 }, "u0 a1 u2 a3 u4 a5 u6 a7", "u8 a9"],
    ["never more than a half", "uauauauaua", { percentage: 100 }, "u0 a1 u2 a3", "u4 a5 u6 a7 u8 a9"],
    [
      "less where the share is too large",
      "uauauauaua",
      { maxTokens: 10 },
      "u0 a1 u2 a3 u4 a5 u6 a7",
      "u8 a9",
    ],
  ])("%s", (_name, roles, rules, covered, kept) => {
    const split = splitBranch(talk(roles), { percentage: 40, maxTokens: 1000, ...rules });
    expect([ids(split?.covered), ids(split?.kept)]).toEqual([covered, kept]);
  });

  it("after the last summary, but never so that nothing is left to answer", () => {
    const branch = talk("uauau");
    const marked = (at: number) =>
      branch.map((one, i) => (i === at ? { ...one, contextSummary: "before" } : one));
    expect(afterSummary(branch)).toEqual({ summary: undefined, rest: branch });
    expect(ids(afterSummary(marked(1)).rest)).toBe("u2 a3 u4");
    expect(afterSummary(marked(1)).summary).toBe("before");
    expect(ids(afterSummary(marked(4)).rest)).toBe("u0 a1 u2 a3 u4");
  });
});

describe("what a summary is made of", () => {
  it("comes in pieces that a model can read", () => {
    const pieces = toPieces(talk("uauauauaua", { content: "x".repeat(300) }), 200);
    expect(pieces.length).toBe(5);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(800);
    expect(pieces[0]).toMatch(/^USER:\nx+\n\nASSISTANT:\nx+$/);
  });

  it("is cut in the middle of messages when a chat is longer than ten of them", () => {
    const long = talk("uaua", { content: `begin ${"x".repeat(100_000)} end` });
    const pieces = toPieces(long, 500);
    expect(pieces.length).toBeLessThanOrEqual(10);
    expect(pieces[0]).toMatch(/^USER:\nbegin x+\n\[…\]\nx+ end$/);
  });

  it("names what tools were asked and answered", () => {
    const output = [
      { type: "function_call", name: "look", arguments: '{"at":"moon"}' },
      { type: "function_call_output", output: [{ type: "input_text", text: "full" }] },
    ];
    expect(toPieces([message("a", "assistant", { output })], 100)).toEqual([
      'ASSISTANT:\n(calls look with {"at":"moon"})\n(result: full)\na',
    ]);
  });

  it("fills a template once: a message that holds a variable brings nothing in", () => {
    const facts = { summary: "S {{MESSAGES}}", messages: "M {{SUMMARY}}" };
    expect(fillPrompt("a {{SUMMARY}} b {{MESSAGES}} c", facts)).toBe("a S {{MESSAGES}} b M {{SUMMARY}} c");
    expect(fillPrompt("Sum up.", facts)).toBe("Sum up.\n\nM {{SUMMARY}}");
    expect(fillPrompt("", { summary: "", messages: "M" })).toMatch(/\(none\)[^]*\nM\n/);
  });
});

describe("the threshold", () => {
  it.each<[object, object, number]>([
    [{ threshold: 100, cap: null }, {}, 100],
    [{ threshold: 100, cap: null }, { compact_token_threshold: 60 }, 60],
    [{ threshold: 100, cap: null }, { compact_token_threshold: 500 }, 100],
    [{ threshold: 100, cap: 300 }, { compact_token_threshold: 500 }, 300],
    [{ threshold: 100, cap: 300 }, { compact_token_threshold: "250" }, 250],
    [{ threshold: 100, cap: 300 }, { compact_token_threshold: "many" }, 100],
    [{ threshold: 100, cap: 50 }, {}, 50],
  ])("of %j and %j", (settings, params, expected) => {
    expect(
      thresholdOf(settings as { threshold: number; cap: number | null }, params as Record<string, unknown>),
    ).toBe(expected);
  });
});

it("sizes of messages are estimated from their words or what their tools said", () => {
  const output = [{ type: "message", content: [{ type: "output_text", text: "x".repeat(400) }] }];
  expect(estimateMessages([message("a", "assistant", { output })])).toBeGreaterThan(100);
  expect(
    estimateMessages([message("u", "user", { content: [{ type: "text", text: "x".repeat(40) }] })]),
  ).toBe(14);
});
