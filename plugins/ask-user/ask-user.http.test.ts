import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventsOf, type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { secondsUntil } from "#test/support/clock/now.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";

let stage: RunStage;
let watcher: PlainClient;
beforeAll(async () => {
  stage = await startRunStage();
  watcher = await stage.connect();
});
afterAll(() => stage?.close());

const mill = {
  id: "mill",
  header: "Mill",
  question: "Which mill?",
  options: [{ label: "Water", description: "By the river" }, { label: "Wind" }],
};
const closed = { ...mill, id: "stone", question: "Which stone?", allow_other: false };
const shownAs = (question: object) => ({ allow_other: true, ...question, options: expect.any(Array) });

/** Starts a reply whose model asks; resolves when the watcher sees the question. */
async function ask(questions: readonly object[], body: { readonly [key: string]: unknown } = {}) {
  const chat = await stage.makeChat();
  const chatId = (body["chat_id"] as string | undefined) ?? chat.chatId;
  const place = { chatId, replyId: chat.replyId };
  const run = runScripted(stage, [{ name: "ask_user", args: { questions } }], { chat: place, ...body });
  const { data } = await watcher.event(
    (_, event) => event?.message_id === chat.replyId && event.data.data?.output?.[0]?.status === "pending",
  );
  return {
    ...place,
    run,
    call: data.data.output[0],
    answer: (sent: unknown, { by = stage.user.token, callId = "call_1" } = {}) =>
      stage.app.call(`POST /api/v1/chats/${chatId}/messages/${chat.replyId}/questions/${callId}`, {
        token: by,
        body: sent,
      }),
  };
}

describe("a model asks the person", () => {
  it("who answers in the chat; the reply goes on with the answer", async () => {
    const asked = await ask([mill, closed]);
    expect(asked.call).toMatchObject({
      name: "ask_user",
      status: "pending",
      question: { questions: [shownAs(mill), shownAs(closed)], timeout_ms: 120_000 },
    });
    expect(secondsUntil(asked.call.question.expires_at)).toBeGreaterThan(60);
    const wrong = [
      [{ answers: {} }, /^answers\.mill: is missing/],
      [{ answers: { mill: "Water" } }, /^answers\.stone: is missing/],
      [{ answers: { mill: "Water", stone: "Other" } }, /^answers\.stone: is none of the options/],
      [{ answers: { mill: "Water", stone: "Wind", x: "y" } }, /^answers\.x: there is no such question/],
    ] as const;
    for (const [sent, detail] of wrong) {
      const { status, body } = await asked.answer(sent);
      expect([status, body.detail]).toEqual([422, expect.stringMatching(detail)]);
    }
    expect((await asked.answer({})).status).toBe(422);
    expect((await asked.answer({ answers: { mill: "x".repeat(4_001), stone: "Wind" } })).status).toBe(422);
    const right = { answers: { mill: "A tide mill", stone: "Wind" } };
    expect((await asked.answer(right)).body).toEqual({ goes_on: true });
    const { values, reply } = await asked.run;
    expect(values).toEqual([
      {
        status: "answered",
        answers: [
          { id: "mill", question: "Which mill?", answer: "A tide mill" },
          { id: "stone", question: "Which stone?", answer: "Wind" },
        ],
      },
    ]);
    expect(reply.output[0]).not.toHaveProperty("question");
    expect(reply).toMatchObject({ done: true, content: "Fine.", output: [{ status: "completed" }, {}, {}] });
    const again = await asked.answer(right);
    expect([again.status, again.body.detail]).toEqual([409, "This call does not wait for an answer."]);
  });

  it("who may pass", async () => {
    const asked = await ask([closed]);
    expect((await asked.answer({ skipped: true })).body).toEqual({ goes_on: true });
    expect((await asked.run).values).toMatchObject([{ status: "skipped" }]);
  });

  it("over the socket of the run; a client that knows nothing of options answers with a text", async () => {
    const client = await connectPlain(stage.app.url, { token: stage.user.token, answer: () => "Wind" });
    const asked = await ask([mill], { session_id: await client.sessionId() });
    expect((await asked.run).values[0].answers).toMatchObject([{ answer: "Wind" }]);
    const question = client.events.find(({ id }) => id !== undefined)?.data as never as { data: object };
    expect(question.data).toMatchObject({
      type: "input",
      data: { title: "Mill", message: "Which mill?\n- Water: By the river\n- Wind", call_id: "call_1" },
    });
    client.close();
  });

  it("in a temporary chat, too", async () => {
    const asked = await ask([mill], { chat_id: `temporary:${randomUUID()}` });
    expect((await asked.answer({ answers: { mill: "Wind" } })).body).toEqual({ goes_on: true });
    expect((await asked.run).values).toMatchObject([{ status: "answered" }]);
  });
});

it("nobody else answers, and nothing is there that was not asked", async () => {
  const asked = await ask([mill]);
  const sent = { answers: { mill: "Wind" } };
  const stranger = await stage.app.user();
  const other = await stage.app.user("admin");
  for (const by of [stranger.token, other.token]) {
    expect((await asked.answer(sent, { by })).status).toBe(404);
  }
  expect((await asked.answer(sent, { by: "" })).status).toBe(401);
  expect((await asked.answer(sent, { callId: "call_2" })).status).toBe(409);
  const route = `POST /api/v1/chats/${asked.chatId}/messages/${randomUUID()}/questions/call_1`;
  expect((await stage.user.call(route, sent)).status).toBe(404);
  // The run ends while it waits: the question goes with it.
  expect((await stage.user.call(`POST /api/tasks/chat/${asked.chatId}/stop`)).status).toBe(200);
  await stage.ended(asked.chatId);
  expect((await stage.message(asked.chatId, asked.replyId)).output).toMatchObject([{ status: "completed" }]);
  expect((await stage.message(asked.chatId, asked.replyId)).output[0]).not.toHaveProperty("question");
  expect((await asked.answer(sent)).status).toBe(409);
});

it("a question stands alone in its turn, and has to be one", async () => {
  const calls = [
    { name: "ask_user", args: { questions: [mill] } },
    { name: "get_current_timestamp" },
    { name: "ask_user", args: { questions: [mill] } },
  ];
  const { results } = await runScripted(stage, calls);
  const alone = 'Error: "ask_user" has to be called alone: call it again, with no other call beside it.';
  expect([results[0], results[2]]).toEqual([alone, alone]);
  expect(results[1]).toMatch(/current_timestamp/);
  const wrong = [
    [{ questions: [] }, /questions: /],
    [{ questions: [mill, mill] }, /two have the same id/],
    [{ questions: [{ ...mill, options: [{ label: "One" }] }] }, /questions\.0\.options: /],
    [{ questions: [{ ...mill, options: [{ label: "A" }, { label: "A" }] }] }, /same label/],
    [{ questions: [1, 2, 3, 4].map((id) => ({ ...mill, id: String(id) })) }, /questions: /],
    ["{}", /needs "questions"/],
  ] as const;
  for (const [args, problem] of wrong) {
    expect((await runScripted(stage, [{ name: "ask_user", args }])).results[0]).toMatch(problem);
  }
  expect(eventsOf(watcher, "none")).toEqual([]);
});

it("a reply whose server stopped a moment ago says that the answer comes too early", async () => {
  const { chatId, replyId } = await stage.makeChat();
  const call = {
    type: "function_call",
    id: "call_1",
    call_id: "call_1",
    name: "ask_user",
    status: "pending",
  };
  const left = {
    id: replyId,
    role: "assistant",
    done: false,
    output: [{ ...call, arguments: "{}", question: {} }],
  };
  const token = stage.user.token;
  const chat = { history: { messages: { [replyId]: left } } };
  expect((await stage.app.call(`POST /api/v1/chats/${chatId}`, { token, body: { chat } })).status).toBe(200);
  const route = `POST /api/v1/chats/${chatId}/messages/${replyId}/questions/call_1`;
  const { status, body } = await stage.app.call(route, { token, body: { answers: { mill: "Water" } } });
  expect([status, body.detail]).toEqual([409, expect.stringContaining("Answer again in a few seconds")]);
});
