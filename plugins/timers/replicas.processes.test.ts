import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { calls, endsWith } from "#plugins/subagents/subagents.fixture.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { isTimer } from "./timers.fixture.ts";

// Takes more than ten seconds of real time: processes start five times, and a second look must have had time to come.

let all: ChatServers;
beforeAll(async () => {
  all = await startChatServers({ database: "server", replicas: 2, env: { ENABLE_SUBAGENTS: "true" } });
}, 240_000);
afterAll(() => all?.close());

/** Sets a timer with this note in a chat of its own, through the replica of this number. */
async function setTimer(note: string, at: string, replica: number): Promise<string> {
  const me = all.admin(replica);
  const question = `Set: ${note}`;
  all.upstream.reply(endsWith(question), calls("timer", { prompt: note, at }));
  all.upstream.always(isTimer(note), text(`Read: ${note}`));
  const chat = await me.makeChat(question);
  const place = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
  await me.complete({ ...place, messages: [{ role: "user", content: question }] });
  await me.ended(chat.chatId);
  return chat.chatId;
}

const timersOf = async (chatId: string) =>
  (await all.admin().call(`GET /api/v1/chats/${chatId}/timers`)).body as {
    state: string;
    ended_at: number;
  }[];

/** The messages of the system in a chat. */
async function toldIn(chatId: string): Promise<object[]> {
  const { messages } = (await all.admin().read(chatId)).chat.history;
  return (Object.values(messages) as { meta?: { internal?: boolean } }[]).filter(
    ({ meta }) => meta?.internal,
  );
}

/** Lets claims run out, once nothing but those of the killed replica is left. */
async function passClaims(): Promise<void> {
  const left = async () =>
    await all.query("select id, claim_owner, claim_token from timer where state = 'waiting' order by id");
  let before = JSON.stringify(await left());
  for (let isSame = false; !isSame;) {
    await pause(1_500);
    const now = JSON.stringify(await left());
    isSame = now === before && !now.includes('"claim_owner":null');
    before = now;
  }
  await all.query("update timer set claim_until = now() where state = 'waiting'");
}

const untilFired = async (chatIds: readonly string[]) =>
  await expect
    .poll(async () => (await Promise.all(chatIds.map(timersOf))).flat().map(({ state }) => state), {
      timeout: 90_000,
      interval: 300,
    })
    .toEqual(chatIds.map(() => "fired"));

it(
  "timers fire once on two replicas, of which one is killed while they fire",
  { timeout: 180_000 },
  async () => {
    const notes = Array.from({ length: 30 }, (_, at) => `Watch ${String(at).padStart(2, "0")}`);
    const chatIds = await Promise.all(notes.map((note, place) => setTimer(note, "1h", place % 2)));
    const first = all.upstream.nextRequest((request) => notes.some((note) => isTimer(note)(request)));
    await all.query("update timer set due_at = due_at - 3600");
    await first;
    await all.servers[1]!.kill();
    // Claims of the other process have run out by now, and count no more.
    await passClaims();
    await untilFired(chatIds);
    // A second look finds nothing to do.
    await pause(3_000);
    for (const [place, note] of notes.entries()) {
      expect(await toldIn(chatIds[place]!), note).toHaveLength(1);
      // A reply that the killed replica was writing is interrupted, and not begun again.
      expect(all.upstream.requests.filter(isTimer(note)).length, note).toBeLessThanOrEqual(1);
    }
    await all.start(1);
  },
);

it("timers that came due while nothing ran fire after the start", { timeout: 180_000 }, async () => {
  const chatId = await setTimer("Wake up", "1h", 0);
  await Promise.all(all.servers.map((server) => server.kill()));
  await all.query("update timer set due_at = due_at - 3600");
  await Promise.all([all.start(0), all.start(1)]);
  await untilFired([chatId]);
  await all.admin().ended(chatId);
  expect(all.upstream.requests.filter(isTimer("Wake up"))).toHaveLength(1);
  const [told] = (await toldIn(chatId)) as [{ id: string }];
  expect((await all.admin().message(chatId, `${told.id}-reply`)).content).toBe("Read: Wake up");
});
