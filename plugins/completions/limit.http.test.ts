import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { tokens } from "#test/support/upstream-scripts.ts";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ env: { LIMIT_CONCURRENT_COMPLETIONS: "1" } });
});
afterAll(() => stage?.close());

const path = "/chat/completions";
const question = { model: "alpha", messages: [{ role: "user", content: "Hi" }] };
const ask = (token = stage.user.token) =>
  stage.app.call("POST /api/chat/completions", { token, body: { ...question, stream: false } });

function openStream(signal: AbortSignal): Promise<Response> {
  return fetch(`${stage.app.url}/api/chat/completions`, {
    method: "POST",
    signal,
    headers: { authorization: `Bearer ${stage.user.token}`, "content-type": "application/json" },
    body: JSON.stringify({ ...question, stream: true }),
  });
}

/** What the upstream of these tests answers when it is asked and no answer was scripted. */
const reached = 501;

/** Resolves to the first answer that is no refusal. */
async function untilFree(): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const { status } = await ask();
    if (status !== 429 || tries === 100) {
      return status;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

it("an account has so many completions at once as a stream, until it is read or its caller leaves", async () => {
  stage.upstream.reply(path, tokens(400, 20));
  const controller = new AbortController();
  const response = await openStream(controller.signal);
  expect(response.status).toBe(200);
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(refused.body.detail).toBe("You have 1 completions under way already. Wait for one to end.");
  controller.abort();
  expect(await untilFree()).toBe(reached);
  stage.upstream.reply(path, tokens(3, 1));
  await (await openStream(AbortSignal.timeout(10_000))).text();
  expect(await untilFree()).toBe(reached);
});

it("runs that belong to chats count as well, until they have ended", async () => {
  const { chatId, replyId } = await stage.makeChat();
  stage.upstream.reply(path, tokens(400, 20));
  expect((await stage.complete({ chat_id: chatId, id: replyId })).status).toBe(200);
  for (let tries = 0; tries < 100 && stage.upstream.requests.at(-1)?.body.stream !== true; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect((await ask()).status).toBe(429);
  const other = await stage.makeChat();
  expect((await stage.complete({ chat_id: other.chatId, id: other.replyId })).status).toBe(429);
  await stage.user.call(`POST /api/tasks/chat/${chatId}/stop`);
  await stage.ended(chatId);
  expect(await untilFree()).toBe(reached);
});
