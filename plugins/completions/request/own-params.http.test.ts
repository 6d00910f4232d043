import { afterAll, beforeAll, expect, it } from "vitest";
import { isCompletion, startRunStage, type RunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";

// Core API, chat completion rule 7: sampling parameters of a request are kept, wherever it says them.

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage();
  stage.upstream.always("/chat/completions", text("Hello."));
});
afterAll(() => stage?.close());

const save = async (id: string, params: object) => {
  const body = { id, name: id, base_model_id: "alpha", meta: {}, params };
  const made = await stage.user.call("POST /api/v1/models/create", body);
  expect(made.status, made.text).toBe(200);
};
const lastAsked = () => stage.upstream.requests.findLast(isCompletion)?.body;

async function ask(body: object) {
  const answer = await stage.complete({ stream: false, session_id: undefined, ...body });
  expect(answer.status, answer.text).toBe(200);
  return lastAsked();
}

it("params fill what the request leaves out beside them, ahead of what the model saved", async () => {
  await save("tuned", { temperature: 0.9, top_p: 0.8, seed: 7 });
  const params = { temperature: 0.1, top_p: 0.2, max_tokens: 5, stop: ["."], presence_penalty: 0.5 };
  const asked = await ask({ model: "tuned", top_p: 0.3, params: { ...params, nonsense: 1 } });
  expect(asked).toMatchObject({ ...params, top_p: 0.3, seed: 7 });
  expect(asked).not.toHaveProperty("params");
  expect(asked).not.toHaveProperty("nonsense");
});

it("params count in a run of a chat as well", async () => {
  const { chatId, replyId } = await stage.makeChat();
  await stage.complete({ chat_id: chatId, id: replyId, params: { temperature: 0.25, max_tokens: 9 } });
  await stage.ended(chatId);
  expect(lastAsked()).toMatchObject({ temperature: 0.25, max_tokens: 9 });
});

// Rules 1, 12 and 13: these were checked in the request, and a saved model must not say them in its place.
it("saved parameters name no chat, session, tools or terminal", async () => {
  const keys = { session_id: "s", tool_ids: ["calculator"], terminal_id: "box", features: { memory: true } };
  await save("sneaky", { ...keys, seed: 3, custom_params: { ...keys, folder_id: "f", vendor: "kept" } });
  const { chatId, replyId } = await stage.makeChat();
  const answer = await stage.complete({
    model: "sneaky",
    chat_id: chatId,
    id: replyId,
    session_id: undefined,
  });
  expect([answer.status, answer.body]).toEqual([200, null]);
  const asked = lastAsked();
  expect(asked).toMatchObject({ seed: 3, vendor: "kept" });
  expect(asked).not.toHaveProperty("tools");
});
