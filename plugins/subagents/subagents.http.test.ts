import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { runScripted, type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { createPacedLog, makePieces, paced } from "#test/support/upstream-paced.ts";
import { answerTask, calls, endsWith, isOfTask, runDelegating, saidIn } from "./subagents.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";

let stage: RunStage;
const standard = {
  ENABLE_SUBAGENTS: true,
  SUBAGENTS_BACKGROUND_ENABLED: true,
  SUBAGENTS_MAX_ASYNC: 20,
  SUBAGENTS_MAX_ITERATIONS: 30,
  SUBAGENTS_MAX_OUTPUT: 30_000,
  SUBAGENTS_SYSTEM_PROMPT: "",
};
const config = (body?: object, token = stage.user.token) =>
  stage.app.call(`${body ? "POST" : "GET"} /api/v1/configs/subagents`, { token, ...(body && { body }) });
const listed = async (chatId: string, token = stage.user.token) =>
  await stage.app.call(`GET /api/v1/chats/${chatId}/subagents`, { token });

beforeAll(async () => {
  stage = await startRunStage({
    // The number of sub-agents at once is read when the platform starts.
    isAlone: true,
    env: {
      ENABLE_SUBAGENTS: "true",
      SUBAGENTS_MAX_CONCURRENT: "3",
      CHAT_RESPONSE_STOP_REPEATED_TOOL_CALLS: "false",
    },
  });
});
beforeEach(async () => void (await config(standard)));
afterAll(() => stage?.close());

describe("sub-agents that a reply waits for", () => {
  it("work side by side, each in a chat of its own, and their results come back in order", async () => {
    answerTask(stage.upstream, "Count the mills", "There are four.");
    answerTask(stage.upstream, "Count the rivers", "There are two.");
    const client = await stage.connect();
    const { values, offered, chatId, replyId } = await runDelegating(
      stage,
      [{ task: "Count the mills", context: "In the valley" }, { task: "Count the rivers" }],
      { system: "Speak plainly." },
    );
    expect(offered).toEqual(expect.arrayContaining(["delegate_task"]));
    expect(values).toMatchObject([
      { status: "completed", output: "There are four.", mode: "foreground", task: "Count the mills" },
      { status: "completed", output: "There are two.", mode: "foreground", task: "Count the rivers" },
    ]);
    const asked = stage.upstream.requests.find(isOfTask("Count the mills"))!;
    const [system, question] = saidIn(asked);
    expect(system!.content).toMatch(/^Speak plainly\.\n\nYou are a sub-agent/);
    expect(question!.content).toBe("Count the mills\n\nContext:\nIn the valley");
    const names = asked.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(names).toContain("get_current_timestamp");
    expect(names).not.toContain("delegate_task");
    // Each stands in a chat of its own, which no list shows.
    const { body } = await listed(chatId);
    expect(body).toMatchObject([
      { task: "Count the mills", state: "completed", message_id: replyId, call_id: "call_1", error: null },
      { task: "Count the rivers", state: "completed", call_id: "call_2" },
    ]);
    const own = await stage.read(body[0].subagent_chat_id);
    expect(own).toMatchObject({ title: "Count the mills", meta: { subagent: { chat_id: chatId } } });
    const list = (await stage.user.call("GET /api/v1/chats/")).body;
    expect(list.map(({ id }: { id: string }) => id)).not.toContain(own.id);
    const shown = client.events
      .map(({ data }) => data)
      .filter((data) => data?.data?.type === "chat:subagent");
    expect(shown.filter(({ data }) => data.data.id === own.id).map(({ data }) => data.data.state)).toEqual([
      "running",
      "completed",
    ]);
  });

  it("are no more at once than may, and give no tasks away themselves: twenty that each want twenty", async () => {
    const tasks = Array.from({ length: 20 }, (_, at) => `Task ${at}.`);
    let atWork = 0;
    let most = 0;
    stage.upstream.always(
      (request) => tasks.some((task) => isOfTask(task)(request)) && saidIn(request).length === 2,
      async (exchange) => {
        atWork += 1;
        most = Math.max(most, atWork);
        await new Promise((resolve) => setTimeout(resolve, 30));
        await calls("delegate_task", ...tasks.map((task) => ({ task: `More of ${task}` })))(exchange);
      },
    );
    stage.upstream.always(
      (request) => tasks.some((task) => isOfTask(task)(request)) && saidIn(request).length > 2,
      async (exchange) => {
        // Before the answer: after it the next one may begin at once.
        atWork -= 1;
        await text("Done alone.")(exchange);
      },
    );
    const { values, chatId } = await runDelegating(
      stage,
      tasks.map((task) => ({ task })),
    );
    expect(values.map(({ output }) => output)).toEqual(tasks.map(() => "Done alone."));
    expect(most).toBeLessThanOrEqual(3);
    expect((await listed(chatId)).body).toHaveLength(20);
    expect(stage.upstream.requests.filter(isOfTask("More of"))).toEqual([]);
    const refused = stage.upstream.requests.findLast((request) => isOfTask("Task 3.")(request));
    expect(saidIn(refused!).filter(({ role }) => role === "tool")[0]!.content).toBe(
      'Error: Tool "delegate_task" not found.',
    );
  });

  it("are cut, bounded and instructed by the settings", async () => {
    await config({ SUBAGENTS_MAX_OUTPUT: 10, SUBAGENTS_SYSTEM_PROMPT: "Work, and be brief." });
    answerTask(stage.upstream, "Say much", "0123456789abcdef");
    const cut = await runDelegating(stage, [{ task: "Say much" }]);
    expect(cut.values[0].output).toBe("0123456789\n[output truncated]");
    expect(saidIn(stage.upstream.requests.find(isOfTask("Say much"))!)[0]!.content).toBe(
      "Work, and be brief.",
    );
    await config({ SUBAGENTS_MAX_ITERATIONS: 2 });
    answerTask(stage.upstream, "Go in circles", calls("get_current_timestamp", {}));
    const bounded = await runDelegating(stage, [{ task: "Go in circles" }]);
    expect(bounded.values[0]).toMatchObject({
      status: "failed",
      error: "Tool-call limit reached (2 iterations).",
    });
    expect(stage.upstream.requests.filter(isOfTask("Go in circles"))).toHaveLength(3);
  });

  it("end with the reply that waits for them", async () => {
    answerTask(
      stage.upstream,
      "Go on for long",
      paced(makePieces(2_000), { every: 20, log: createPacedLog() }),
    );
    const chat = await stage.makeChat();
    stage.upstream.reply(endsWith("Hi"), calls("delegate_task", { task: "Go on for long" }));
    await stage.complete({ chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } });
    const asked = await stage.upstream.nextRequest(isOfTask("Go on for long"));
    await stage.user.call(`POST /api/tasks/chat/${chat.chatId}/stop`);
    await asked.aborted;
    await vi.waitFor(
      async () => expect((await listed(chat.chatId)).body).toMatchObject([{ state: "stopped" }]),
      15_000,
    );
  });

  it("are refused what is wrong, and told what a failure is", async () => {
    answerTask(stage.upstream, "Break", (exchange) => exchange.start(500, {}));
    const { values } = await runDelegating(stage, [
      { task: " " },
      { task: 5 },
      { task: "x".repeat(50_001) },
      { task: "nul \u0000" },
      {},
    ]);
    expect(values.slice(0, 3)).toEqual([
      "Error: task: must be a text that is not empty.",
      "Error: task: must be a text that is not empty.",
      "Error: task: must have at most 50000 characters.",
    ]);
    expect(values[4]).toBe('Error: "delegate_task" needs "task".');
  });
});

describe("who may", () => {
  it("lists them for the owner of the chat alone, and the settings for administrators", async () => {
    const { chatId } = await stage.makeChat();
    const stranger = await stage.app.user();
    expect((await listed(chatId)).body).toEqual([]);
    expect((await listed(chatId, stranger.token)).status).toBe(404);
    expect((await config(undefined, stranger.token)).status).toBe(403);
    expect((await config({ SUBAGENTS_MAX_OUTPUT: 0 })).status).toBe(422);
    expect((await config({ SUBAGENTS_MAX_CONCURRENT: 0 })).status).toBe(422);
    expect((await config({ SUBAGENTS_MAX_CONCURRENT: 3 })).body).toMatchObject(standard);
  });

  it("offers them where they are on, and a chat is kept", async () => {
    const temporary = { chatId: `temporary:${crypto.randomUUID()}`, replyId: crypto.randomUUID() };
    expect((await runScripted(stage, [], { chat: temporary })).offered).not.toContain("delegate_task");
    await config({ ENABLE_SUBAGENTS: false });
    expect((await runScripted(stage, [])).offered).not.toContain("delegate_task");
    expect((await config()).body.ENABLE_SUBAGENTS).toBe(false);
  });
});
