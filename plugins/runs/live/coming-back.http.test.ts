import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { probes } from "#plugins/completions/reply/probes.fixture.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { eventsOf, type RunStage, startRunStage } from "../runs.fixture.ts";
import { type EndedRun, runFollowUps } from "../service.ts";

let stage: RunStage;
/** What follows a reply, and takes as long as a case likes. */
let follow: (ended: EndedRun) => Promise<void> = async () => {};

const lingering = definePlugin({
  id: "lingering",
  title: "Lingering",
  setup: () => ({ fills: [fill(runFollowUps, { order: 99, run: (ended) => follow(ended) })] }),
});

beforeAll(async () => {
  stage = await startRunStage({ plugins: [probes, lingering] });
});
afterAll(() => stage?.close());

const beyond = 1_000_000;

it.each([
  ["a stored chat", () => stage.makeChat()],
  ["a temporary chat", async () => ({ chatId: `temporary:${randomUUID()}`, replyId: randomUUID() })],
])("a client of %s that comes back behind the reply gets it as it ended", async (_name, make) => {
  const client = await stage.connect();
  const { chatId, replyId } = await make();
  const resume = (seq: number) => client.emit("chat:resume", { chat_id: chatId, message_id: replyId, seq });
  const [reached, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  follow = async () => {
    reached.resolve();
    await mayEnd.promise;
  };
  stage.upstream.reply("/chat/completions", text("Secret"));
  await stage.complete({ chat_id: chatId, id: replyId, filter_ids: ["keep"] });
  await reached.promise;
  const during = await resume(beyond);
  mayEnd.resolve();
  const shown = { id: replyId, done: true, content: "filtered", originalContent: "Secret" };
  expect(during.snapshot).toMatchObject(shown);
  expect(JSON.stringify(during.snapshot.output)).toContain("filtered");
  expect(during.seq).toBe(Math.max(...eventsOf(client, replyId).map(({ seq }) => seq)));
  await expect.poll(async () => (await stage.user.call("GET /api/tasks")).body.tasks as unknown).toEqual([]);
  const after = await resume(beyond);
  expect(after.snapshot).toMatchObject(shown);
  follow = async () => {};
});

it("a temporary reply that ended while its client was away is the owner's alone", async () => {
  const [chatId, replyId] = [`temporary:${randomUUID()}`, randomUUID()];
  stage.upstream.reply("/chat/completions", text("Whispered"));
  await stage.complete({ chat_id: chatId, id: replyId, session_id: undefined });
  const client = await stage.connect();
  const place = { chat_id: chatId, message_id: replyId };
  const { from, events } = await client.emit("chat:resume", { ...place, seq: 0 });
  expect(from).toBe(1);
  expect(events.at(-1).data).toMatchObject({ data: { done: true, content: "Whispered" } });
  expect(await client.emit("chat:resume", { ...place, message_id: randomUUID(), seq: 0 })).toMatchObject({
    code: "not_found",
  });
});

// The reply grows while the server puts the answer together.
it("a client that comes back in the middle of a continued reply gets its text up to one event, and no further", async () => {
  const client = await stage.connect();
  const { chatId, replyId } = await stage.makeChat();
  const place = { chat_id: chatId, id: replyId };
  stage.upstream.reply("/chat/completions", text("Begun."));
  await stage.complete(place);
  await stage.ended(chatId);
  stage.upstream.reply("/chat/completions", paced(makePieces(1_500), { every: 1 }));
  await stage.complete({ ...place, assistant_message_id: replyId });
  const snapshots: { content: string; seq: number; text: string }[] = [];
  for (;;) {
    const { snapshot, seq } = await client.emit("chat:resume", {
      chat_id: chatId,
      message_id: replyId,
      seq: beyond,
    });
    if (snapshot.done) {
      break;
    }
    snapshots.push({ content: snapshot.content, seq, text: snapshot.output.at(-1).content[0].text });
  }
  expect(snapshots.length).toBeGreaterThan(10);
  expect(snapshots.findIndex(({ content, text: said }) => said !== content)).toBe(-1);
  const later = (after: number) =>
    eventsOf(client, replyId)
      .filter(({ seq, data: { type } }) => seq > after && type === "chat:message:delta")
      .map(({ data: { data } }) => data.content as string)
      .join("");
  const { content } = await stage.message(chatId, replyId);
  expect(snapshots.findIndex(({ seq, text: said }) => said + later(seq) !== content)).toBe(-1);
});
