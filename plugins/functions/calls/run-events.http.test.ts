import { afterAll, beforeAll, expect, it } from "vitest";
import { eventsOf, type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { addFunction } from "../functions.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage();
});
afterAll(() => stage?.close());

it("events of a filter are kept with the reply it works on; the reply's text stays the run's", async () => {
  const content = `export async function inlet(body, { host }) {
    await host.emit({ type: "status", data: { description: "Looking", done: false } });
    await host.emit({ type: "message", data: { content: "Slipped in. " } });
    await host.emit({ type: "citation", data: { source: { name: "atlas" }, document: ["x"], metadata: [{}] } });
    await host.emit({ type: "status", data: { description: "Found", done: true } });
    return body;
  }`;
  await addFunction(stage.app, "teller", content, { global: true });
  const { chatId, replyId } = await stage.makeChat();
  const client = await stage.connect();
  stage.upstream.reply("/chat/completions", text("Hello"));
  await stage.complete({ chat_id: chatId, id: replyId });
  await stage.ended(chatId);
  expect(await stage.message(chatId, replyId)).toMatchObject({
    content: "Hello",
    done: true,
    statusHistory: [
      { description: "Looking", done: false },
      { description: "Found", done: true },
    ],
    sources: [{ source: { name: "atlas" } }],
  });
  const shown = eventsOf(client, replyId).map(({ data }) => data.type);
  expect(shown.filter((type) => ["status", "message", "citation"].includes(type))).toEqual([
    "status",
    "message",
    "citation",
    "status",
  ]);
});
