import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage();
});
afterAll(() => stage?.close());

const path = "/chat/completions";
const set = (body: object) => stage.user.call("POST /api/v1/tasks/config/update", body);

/** The messages that the model gets of a completion over HTTP. */
async function send(body: object) {
  stage.upstream.reply(path, text("Hello"));
  const asked = stage.upstream.nextRequest(path);
  const messages = [{ role: "user", content: "Hi" }];
  const answer = await stage.user.call("POST /api/chat/completions", { model: "alpha", messages, ...body });
  expect(answer.status).toBe(200);
  return (await asked).body.messages;
}

describe("in a call", () => {
  const voice = { features: { voice: true } };

  it("the model is told that it is heard, after everything else", async () => {
    const [system, question] = await send(voice);
    expect([system.role, question]).toEqual(["system", { role: "user", content: "Hi" }]);
    expect(system.content).toContain("read aloud");
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ];
    expect((await send({ ...voice, messages }))[0].content).toMatch(/^Be brief\.\n\nThe user talks/);
    const parts = [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, messages[1]];
    expect((await send({ ...voice, messages: parts }))[0].content).toEqual([
      { type: "text", text: "Be brief." },
      { type: "text", text: expect.stringContaining("read aloud") },
    ]);
  });

  it("in the words that were set, and not while that is off", async () => {
    await set({ VOICE_MODE_PROMPT_TEMPLATE: "You are on the phone." });
    expect((await send(voice))[0]).toEqual({ role: "system", content: "You are on the phone." });
    await set({ ENABLE_VOICE_MODE_PROMPT: false });
    expect(await send(voice)).toEqual([{ role: "user", content: "Hi" }]);
    await set({ ENABLE_VOICE_MODE_PROMPT: true, VOICE_MODE_PROMPT_TEMPLATE: "" });
  });

  it("of a chat just the same; otherwise nothing is said", async () => {
    const { chatId, replyId, userId } = await stage.makeChat();
    stage.upstream.reply(path, text("Hello"));
    const asked = stage.upstream.nextRequest(path);
    await stage.complete({ chat_id: chatId, id: replyId, user_message: { id: userId }, ...voice });
    expect((await asked).body.messages[0].content).toContain("read aloud");
    await stage.ended(chatId);
    expect(await send({ features: { voice: false } })).toEqual([{ role: "user", content: "Hi" }]);
    expect(await send({})).toEqual([{ role: "user", content: "Hi" }]);
  });
});
