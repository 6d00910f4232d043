import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectPlain, connectSocketIo, within } from "#test/support/sockets.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { done } from "./guarded.fixture.ts";
import { type ApprovalStage, approvalsOf, startApprovalStage, unknown } from "./stage.fixture.ts";

let stage: ApprovalStage;
const denied = /^Error: The user did not allow this call\./;

beforeAll(async () => {
  stage = await startApprovalStage();
});
afterAll(() => stage?.close());
beforeEach(async () => {
  await stage.user.call("DELETE /api/v1/users/user/approvals");
});

const confirmations = (client: { events: { id?: number; data: unknown }[] }) =>
  client.events.filter(({ id }) => id !== undefined).map(({ data }) => data as never as { data: never });

describe("a call that needs an approval asks the client of the run", () => {
  it("and goes on when that says yes", async () => {
    const client = await stage.answering(() => true);
    const run = await stage.ask([{ name: "send", arguments: '{"to": "Ann"}' }], {
      session_id: await client.sessionId(),
    });
    const reply = await run.ended();
    expect(confirmations(client)).toMatchObject([
      {
        chat_id: run.chatId,
        message_id: run.replyId,
        data: {
          type: "confirmation",
          data: { title: "Allow send?", message: '{\n  "to": "Ann"\n}', call_id: "call_1", name: "send" },
        },
      },
    ]);
    expect(done).toEqual([{ name: "send", parameters: { to: "Ann" } }]);
    expect(await run.told()).toEqual(["send: done"]);
    expect(reply.output).toMatchObject([
      { type: "function_call", status: "completed", approval: { status: "allowed" } },
      { type: "function_call_output", output: [{ text: "send: done" }] },
      { type: "message" },
    ]);
    expect(reply).toMatchObject({ done: true, content: "Fine." });
    expect(approvalsOf(client, run.replyId).slice(0, 2)).toEqual(["pending", "allowed"]);
  });

  it("and tells the model when that says no", async () => {
    const client = await stage.answering(() => false);
    const run = await stage.ask([{ name: "send" }], { session_id: await client.sessionId() });
    expect(await run.told()).toEqual([expect.stringMatching(denied)]);
    expect(done).toEqual([]);
    const reply = await run.ended();
    expect(reply).toMatchObject({ done: true, content: "Fine." });
    expect(reply.error).toBeUndefined();
    expect(reply.output[0]).toMatchObject({ status: "completed", approval: { status: "denied" } });
  });

  it("over Socket.IO just the same", async () => {
    const socket = await connectSocketIo(stage.app.url, stage.user.token);
    const asked: unknown[] = [];
    socket.on("events", ({ data }, acknowledge) => {
      if (data.type === "confirmation") {
        asked.push(data.data.name);
        acknowledge({ decision: "allow" });
      }
    });
    const run = await stage.ask([{ name: "send" }], { session_id: socket.id });
    expect(await run.told()).toEqual(["send: done"]);
    expect(asked).toEqual(["send"]);
    await run.ended();
    socket.disconnect();
  });

  it("about each call that needs one, and about no other", async () => {
    const seen: string[] = [];
    const client = await stage.answering(({ data }) => {
      seen.push(data.data.call_id);
      return data.data.call_id !== "b";
    });
    const calls = [
      { name: "send", id: "a" },
      { name: "look", id: "l" },
      { name: "both", id: "b" },
      { name: "both", id: "c" },
    ];
    const run = await stage.ask(calls, { session_id: await client.sessionId() });
    expect(await run.told()).toEqual([
      "send: done",
      "look: done",
      expect.stringMatching(denied),
      "both: done",
    ]);
    expect(seen.toSorted()).toEqual(["a", "b", "c"]);
    await run.ended();
  });

  it("about all calls of a round at once, so that they are decided together", async () => {
    const isSecondAsked = Promise.withResolvers<void>();
    const client = await stage.answering(async ({ data }) => {
      if (data.data.call_id === "b") {
        isSecondAsked.resolve();
        return true;
      }
      await isSecondAsked.promise;
      return false;
    });
    const calls = [
      { name: "send", id: "a", arguments: '{"to": "Ann"}' },
      { name: "send", id: "b", arguments: '{"to": "Ben"}' },
    ];
    const run = await stage.ask(calls, { session_id: await client.sessionId() });
    expect(await run.told()).toEqual([expect.stringMatching(denied), "send: done"]);
    expect(done).toEqual([{ name: "send", parameters: { to: "Ben" } }]);
    await run.ended();
  });

  it("an answer that is none leaves the question open for others", async () => {
    const client = await stage.answering(() => ({ error: "I do not know confirmations" }));
    const run = await stage.ask([{ name: "send" }], { session_id: await client.sessionId() });
    await run.waits(client);
    await pause(300);
    expect((await run.answer({ decision: "allow" })).body).toBe(true);
    expect(await run.told()).toEqual(["send: done"]);
    await run.ended();
  });
});

describe("the chat shows the call, and whoever owns it answers", () => {
  it("from another window, once", async () => {
    const client = await stage.connect();
    const run = await stage.ask([{ name: "send" }]);
    expect(await run.waits(client)).toMatchObject({
      name: "send",
      approval: { status: "pending", expires_at: expect.any(Number) },
    });
    expect((await stage.user.call(`GET /api/tasks/chat/${run.chatId}`)).body.task_ids.length).toBe(1);
    expect(done).toEqual([]);
    const wrong = await run.answer({ decision: "maybe" });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("decision")]);
    expect((await run.answer({ decision: "allow" }, { callId: "another" })).status).toBe(409);
    const stranger = await stage.app.user();
    const foreign = await run.answer({ decision: "allow" }, { token: stranger.token });
    const absent = await stranger.call(
      `POST /api/v1/chats/${unknown}/messages/${run.replyId}/approvals/call_1`,
      { decision: "allow" },
    );
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    const nowhere = `POST /api/v1/chats/${run.chatId}/messages/${unknown}/approvals/call_1`;
    const body404 = { token: stage.user.token, body: { decision: "allow" } };
    expect((await stage.app.call(nowhere, body404)).status).toBe(404);
    expect(done).toEqual([]);
    expect(await run.answer({ decision: "allow" })).toMatchObject({ status: 200, body: true });
    expect(await run.told()).toEqual(["send: done"]);
    await run.ended();
    expect((await run.answer({ decision: "allow" })).status).toBe(409);
  });

  it("says no there as well", async () => {
    const client = await stage.connect();
    const run = await stage.ask([{ name: "send" }]);
    await run.waits(client);
    await run.answer({ decision: "deny" });
    expect(await run.told()).toEqual([expect.stringMatching(denied)]);
    expect(done).toEqual([]);
    await run.ended();
  });

  it("and nobody else, administrators neither", async () => {
    const member = await stage.app.user();
    const everybody = [{ principal_type: "user", principal_id: "*", permission: "read" }];
    const model = { id: "alpha", name: "alpha", base_model_id: null, meta: {}, params: {} };
    const made = await stage.user.call("POST /api/v1/models/create", { ...model, access_grants: everybody });
    expect(made.status).toBe(200);
    const client = await connectPlain(stage.app.url, { token: member.token });
    await client.sessionId();
    const run = await stage.ask([{ name: "send" }], { chat_id: "temporary:theirs" }, member.token);
    await run.waits(client);
    expect((await run.answer({ decision: "allow" })).status).toBe(409);
    expect(done).toEqual([]);
    expect((await run.answer({ decision: "allow" }, { token: member.token })).status).toBe(200);
    expect(await run.told()).toEqual(["send: done"]);
    client.close();
  });

  it("after a reload: the stored message and the journal both say that it waits", async () => {
    const first = await stage.connect();
    const run = await stage.ask([{ name: "send" }]);
    const { seq } = await first.event((_, data) => data?.message_id === run.replyId && data.seq === 1);
    await run.waits(first);
    first.close();
    await pause(1_200);
    const stored = await stage.message(run.chatId, run.replyId);
    expect(stored.output[0]).toMatchObject({ status: "pending", approval: { status: "pending" } });
    expect(stored.done).toBe(false);
    const again = await stage.connect();
    const place = { chat_id: run.chatId, message_id: run.replyId };
    const { events } = await again.emit("chat:resume", { ...place, seq });
    expect(events.at(-1).data.data.output[0]).toMatchObject({ call_id: "call_1", status: "pending" });
    await run.answer({ decision: "allow" });
    expect(await run.told()).toEqual(["send: done"]);
    const reply = await run.ended();
    expect(reply.output[0]).toMatchObject({ status: "completed", approval: { status: "allowed" } });
    const seen = again.events.map(({ data }) => data).filter((data) => data?.message_id === run.replyId);
    expect(seen[0]?.seq).toBe(events.at(-1).seq + 1);
  });

  it("of a temporary chat, too", async () => {
    const client = await stage.connect();
    const run = await stage.ask([{ name: "send" }], { chat_id: "temporary:asks" });
    await run.waits(client);
    expect((await run.answer({ decision: "allow" })).status).toBe(200);
    expect(await run.told()).toEqual(["send: done"]);
    await run.ended();
  });
});

describe("nobody answers", () => {
  it("when nobody is there: at once, and the model is told", { timeout: 60_000 }, async () => {
    const others = stage.app.user().then(({ token }) => connectPlain(stage.app.url, { token }));
    const lonely = await startApprovalStage();
    const run = await lonely.ask([{ name: "send" }]);
    expect(await within(3_000, run.told())).toEqual([
      "Error: Nobody was there to allow this call, so it was not made.",
    ]);
    const reply = await run.ended();
    expect(done).toEqual([]);
    expect(reply.output[0]).toMatchObject({ approval: { status: "unreachable" } });
    (await others).close();
    await lonely.close();
  });

  it("in time", { timeout: 60_000 }, async () => {
    const hurried = await startApprovalStage({ TOOL_APPROVAL_TIMEOUT_SECONDS: "1" });
    const client = await hurried.connect();
    const run = await hurried.ask([{ name: "send" }]);
    expect(await run.told()).toEqual(["Error: The user did not answer in time, so this call was not made."]);
    const reply = await run.ended();
    expect(done).toEqual([]);
    expect(reply.output[0]).toMatchObject({ status: "completed", approval: { status: "expired" } });
    expect(approvalsOf(client, run.replyId).slice(0, 2)).toEqual(["pending", "expired"]);
    expect((await run.answer({ decision: "allow" })).status).toBe(409);
    await hurried.close();
  });

  it("before the run is stopped", async () => {
    const client = await stage.connect();
    const run = await stage.ask([{ name: "send" }]);
    await run.waits(client);
    await stage.user.call(`POST /api/tasks/chat/${run.chatId}/stop`);
    const reply = await run.ended();
    expect(done).toEqual([]);
    expect(reply).toMatchObject({
      done: true,
      output: [{ status: "completed", approval: { status: "cancelled" } }],
    });
    expect((await run.answer({ decision: "allow" })).status).toBe(409);
    // The model repeats a call without an answer; the call itself is not sent back.
    stage.upstream.reply("/chat/completions", text("On we go."));
    const asked = stage.upstream.nextRequest("/chat/completions");
    const more = { assistant_message_id: run.replyId, user_message: { id: run.userId } };
    await stage.complete({ chat_id: run.chatId, ...more });
    expect((await asked).body.messages.map(({ role }: { role: string }) => role)).toEqual(["user"]);
    await run.ended();
  });
});
