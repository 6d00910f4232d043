import { afterEach, expect, it, vi } from "vitest";
import type { ToolContext } from "#kernel/tools/tool.ts";
import { createAskUserTool } from "./ask-user-tool.ts";
import { createOpenQuestions } from "./open-questions.ts";

afterEach(() => void vi.useRealTimers());

it.each([
  [undefined, 120_000],
  [90_000, 90_000],
  [1, 60_000],
  [1e9, 240_000],
  ["soon", 120_000],
])(
  "waits as long as the model asks within bounds (%s), and tells that nobody answered",
  async (wanted, waits) => {
    vi.useFakeTimers();
    const open = createOpenQuestions();
    const shown: unknown[] = [];
    const tool = createAskUserTool({ open, hub: { ask: () => new Promise(() => {}) } });
    const context = {
      principal: { userId: "u" },
      chatId: "c",
      messageId: "m",
      sessionId: "s",
      signal: new AbortController().signal,
      call: {
        id: "call",
        showWaiting: (question: unknown) => shown.push(question),
        showApproval() {},
        showProgress() {},
      },
    } as unknown as ToolContext;
    const questions = [{ id: "a", question: "?", options: [{ label: "1" }, { label: "2" }] }];
    let result: unknown;
    const running = tool.run({ questions, timeout_ms: wanted }, context).then((value) => (result = value));
    await vi.advanceTimersByTimeAsync(waits - 1);
    expect([result, shown]).toMatchObject([undefined, [{ timeout_ms: waits }]]);
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(result).toMatchObject({ status: "timeout" });
    expect(shown.at(-1)).toBeUndefined();
    const place = { userId: "u", chatId: "c", messageId: "m", callId: "call" };
    expect(open.answer(place, { skipped: true })).toBeUndefined();
  },
);
