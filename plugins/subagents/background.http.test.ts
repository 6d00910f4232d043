import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { eventsOf, type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { createPacedLog, makePieces, paced } from "#test/support/upstream-paced.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { answerTask, calls, endsWith, isOfTask, runDelegating, saidIn } from "./subagents.fixture.ts";

let stage: RunStage;
const standard = { ENABLE_SUBAGENTS: true, SUBAGENTS_BACKGROUND_ENABLED: true, SUBAGENTS_MAX_ASYNC: 20 };
const config = (body: object) => stage.user.call("POST /api/v1/configs/subagents", body);
const listed = async (chatId: string) => await stage.user.call(`GET /api/v1/chats/${chatId}/subagents`);

beforeAll(async () => {
  stage = await startRunStage({ env: { CHAT_RESPONSE_STOP_REPEATED_TOOL_CALLS: "false" } });
});
beforeEach(async () => void (await config(standard)));
afterAll(() => stage?.close());

describe("sub-agents in the background", () => {
  const isReport = endsWith("[Message of the system");

  it("let the chat go on, and their result comes as a message of the system, which is answered", async () => {
    const log = createPacedLog();
    answerTask(stage.upstream, "Look it up", paced(["The ", "answer."], { every: 300, log }));
    stage.upstream.always(isReport, text("I have it now."));
    const client = await stage.connect();
    const { values, chatId, replyId, reply } = await runDelegating(stage, [
      { task: "Look it up", background: true },
    ]);
    const [{ delegation_id: id }] = values;
    expect(values[0]).toEqual({
      status: "dispatched",
      delegation_id: id,
      subagent_chat_id: id,
      mode: "background",
      task: "Look it up",
    });
    expect(reply.content).toBe("Fine.");
    const told = await vi.waitFor(async () => {
      const { history } = (await stage.read(chatId)).chat;
      const last = history.messages[history.currentId];
      expect(last).toMatchObject({ role: "assistant", content: "I have it now.", done: true });
      return history.messages[last.parentId];
    }, 20_000);
    expect(told).toMatchObject({
      role: "user",
      parentId: replyId,
      meta: { internal: true, kind: "subagent", subagent_id: id, task: "Look it up", state: "completed" },
    });
    expect(told.content).toContain("The answer.");
    expect(client.events.filter(({ data }) => data?.data?.type === "chat:reload")).toHaveLength(1);
    expect(eventsOf(client, `told-${id}-reply`).length).toBeGreaterThan(0);
    // Nothing is told twice.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(Object.keys((await stage.read(chatId)).chat.history.messages)).toHaveLength(4);
  });

  it("are told as stopped where the person stops them in their own chat", async () => {
    answerTask(
      stage.upstream,
      "Walk the whole river",
      paced(makePieces(2_000), { every: 20, log: createPacedLog() }),
    );
    stage.upstream.always(isReport, text("All right."));
    const { values, chatId } = await runDelegating(stage, [
      { task: "Walk the whole river", background: true },
    ]);
    const [{ subagent_chat_id: id }] = values;
    await vi.waitFor(async () => {
      const own = (await stage.read(id)).chat.history;
      expect(own.messages[own.currentId].content).not.toBe("");
    }, 15_000);
    await stage.user.call(`POST /api/tasks/chat/${id}/stop`);
    const told = await vi.waitFor(async () => {
      const message = await stage.message(chatId, `told-${id}`);
      expect(message).toMatchObject({ meta: { state: "stopped" } });
      return message;
    }, 20_000);
    expect(told.content).toContain("was stopped by the user");
    expect(told.content).toContain(makePieces(1)[0]!.trim());
    expect((await listed(chatId)).body).toMatchObject([{ state: "stopped", error: null }]);
  });

  it("are bounded where 25 are asked for at once and each wants 20", async () => {
    const tasks = Array.from({ length: 25 }, (_, at) => `Errand ${at}.`);
    const isErrand = (request: Parameters<typeof isReport>[0]) =>
      tasks.some((task) => isOfTask(task)(request));
    stage.upstream.always(
      (request) => isErrand(request) && saidIn(request).length === 2,
      async (exchange) => {
        // All that may are at work at once before one of them ends.
        await vi.waitFor(
          () => expect(stage.upstream.requests.filter(isErrand).length).toBeGreaterThanOrEqual(20),
          30_000,
        );
        await calls(
          "delegate_task",
          ...tasks.slice(0, 20).map((task) => ({ task: `More of ${task}` })),
        )(exchange);
      },
    );
    stage.upstream.always((request) => isErrand(request) && saidIn(request).length > 2, text("Done."));
    stage.upstream.always(isReport, text("Noted."));
    const { values, chatId } = await runDelegating(
      stage,
      tasks.map((task) => ({ task, background: true })),
    );
    const said = values.map((value) => (typeof value === "string" ? value.slice(0, 28) : value.status));
    expect(said.filter((one) => one === "dispatched")).toHaveLength(20);
    expect(said.filter((one) => one === "Error: 20 sub-agents work in")).toHaveLength(5);
    await vi.waitFor(async () => {
      const states = (await listed(chatId)).body.map(({ state }: { state: string }) => state);
      expect(states).toEqual(Array.from({ length: 20 }, () => "completed"));
    }, 60_000);
    expect(stage.upstream.requests.filter(isOfTask("More of"))).toEqual([]);
    await stage.user.call(`DELETE /api/v1/chats/${chatId}`);
  });

  it("are no more at once than may, and none while they are switched off", async () => {
    await config({ SUBAGENTS_MAX_ASYNC: 1 });
    answerTask(stage.upstream, "Take your time", paced(["Done."], { every: 2_000, log: createPacedLog() }));
    const { values, chatId } = await runDelegating(stage, [
      { task: "Take your time", background: true },
      { task: "Take your time", background: true },
    ]);
    const said = values.map((value) => (typeof value === "string" ? value : value.status));
    expect(said.toSorted()).toEqual([expect.stringMatching(/^Error: 1 sub-agents work/), "dispatched"]);
    await config({ SUBAGENTS_BACKGROUND_ENABLED: false });
    const off = await runDelegating(stage, [{ task: "Now", background: true }]);
    // The schema does not know it then, so it is dropped and the reply waits.
    expect(off.values[0].mode ?? off.values[0]).toBe("foreground");
    expect((await listed(chatId)).body).toHaveLength(1);
  });

  it("are told after another reply, and go with the chat", async () => {
    answerTask(stage.upstream, "Be late", paced(["Late."], { every: 500, log: createPacedLog() }));
    const { values, chatId } = await runDelegating(stage, [{ task: "Be late", background: true }]);
    const token = stage.user.token;
    expect((await stage.app.call(`DELETE /api/v1/chats/${chatId}`, { token })).status).toBe(200);
    await vi.waitFor(async () => {
      const { status } = await stage.app.call(`GET /api/v1/chats/${values[0].subagent_chat_id}`, { token });
      expect(status).not.toBe(200);
    }, 15_000);
  });
});
