// Takes long: leases of runs end by the clock of the database, which no test moves.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "#storage/database.ts";
import { text, tokens } from "#test/support/upstream-scripts.ts";
import { eventsOf, type RunStage, startRunStage } from "../runs.fixture.ts";

const path = "/chat/completions";

// The embedded database has one process alone: nobody else takes part there.
describe("runs of several replicas", () => {
  let stage: RunStage;
  /** The database as another process sees it. */
  let other: Database;

  beforeAll(async () => {
    stage = await startRunStage({ env: { DATABASE_POOL_SIZE: "3" }, isAlone: true });
    const { config } = stage.app.running;
    other = await openDatabase({ url: config.databaseUrl as string, dataDir: config.dataDir });
  });
  afterAll(async () => {
    await other?.close();
    await stage?.close();
  });

  /** A chat whose reply a process was writing that is gone. */
  async function makeOrphan() {
    const chat = await stage.makeChat();
    const runId = randomUUID();
    const { chatId, replyId } = chat;
    await other.query("update chat_message set run_id = $1, done = false where id = $2", [runId, replyId]);
    await other.query(
      `insert into chat_run (id, chat_id, message_id, user_id, owner_id, created_at) values ($1, $2, $3, $4, 'gone', 0)`,
      [runId, chatId, replyId, stage.user.id],
    );
    return { ...chat, runId };
  }
  /** Locks a row until the returned function is called. */
  async function lock(table: "chat" | "chat_message" | "chat_run", id: string) {
    const [isLocked, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = other.transaction(async (tx) => {
      await tx.selectFrom(table).selectAll().where("id", "=", id).forUpdate().execute();
      isLocked.resolve();
      await mayEnd.promise;
    });
    await Promise.race([isLocked.promise, held]);
    return async () => {
      mayEnd.resolve();
      await held;
    };
  }
  const ends = ({ chatId, replyId }: { chatId: string; replyId: string }) =>
    expect
      .poll(async () => (await stage.message(chatId, replyId)).error, { timeout: 20_000 })
      .toEqual({ content: "interrupted" });

  /** For every run, not once: one that is stopped before it asks would leave its answer to the next test. */
  const answerSlowly = () => stage.upstream.always(path, tokens(2_000, 10));

  async function startSlow(body: object = {}) {
    const chat = await stage.makeChat();
    answerSlowly();
    const answer = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, ...body });
    return { ...chat, taskId: answer.body.task_ids[0] as string };
  }

  it("one that cannot be ended keeps no other from it", async () => {
    const [stuck, unbegun] = [await stage.makeChat(), await stage.makeChat()];
    const held = `('${stuck.replyId}', '${unbegun.replyId}')`;
    await other.query(`
      create function refuse_message() returns trigger language plpgsql as
        $$ begin raise exception 'refused'; end $$;
      create trigger refuse_message before update on chat_message for each row
        when (new.id in ${held}) execute function refuse_message()`);
    await other.query(
      `insert into chat_run (id, chat_id, message_id, user_id, owner_id, created_at) values ($1, $2, $3, $4, 'gone', 0)`,
      [randomUUID(), stuck.chatId, stuck.replyId, stage.user.id],
    );
    expect((await stage.complete({ chat_id: unbegun.chatId, id: unbegun.replyId })).status).toBe(500);
    await ends(await makeOrphan());
    await other.query("drop trigger refuse_message on chat_message");
    await ends(stuck);
    await ends(unbegun);
  });

  it("each is ended by one replica: what another is about to end is passed over", async () => {
    const [taken, free] = [await makeOrphan(), await makeOrphan()];
    const release = await lock("chat_run", taken.runId);
    await ends(free);
    expect((await stage.message(taken.chatId, taken.replyId)).done).toBe(false);
    await release();
    await ends(taken);
  });

  it("stays its process's own while other statements take every connection", async () => {
    const { chatId } = await startSlow();
    const seenAt = async () => {
      const { rows } = await other.query(
        "select o.seen_at from chat_run_owner as o join chat_run as r on r.owner_id = o.id where r.chat_id = $1",
        [chatId],
      );
      return rows[0]?.seen_at as number;
    };
    const { database } = stage.app.running;
    const release = await lock("chat", chatId);
    const waiting = Array.from({ length: 4 }, () =>
      database.query("update chat set title = title where id = $1", [chatId]),
    );
    for (let beats = 0; beats < 2; beats++) {
      const since = await seenAt();
      await expect.poll(seenAt, { timeout: 10_000 }).toBeGreaterThan(since);
    }
    await release();
    await Promise.all(waiting);
    await stage.user.call(`POST /api/tasks/chat/${chatId}/stop`);
    await stage.ended(chatId);
  });

  it("stops also when the announcement of it was lost", async () => {
    const { chatId, replyId, taskId } = await startSlow();
    await other.query("update chat_run set stop_reason = 'stopped' where id = $1", [taskId]);
    await stage.ended(chatId);
    const { done, error } = await stage.message(chatId, replyId);
    expect([done, error]).toEqual([true, undefined]);
  });

  it("stops also when it was asked to before it began", async () => {
    const chat = await stage.makeChat();
    answerSlowly();
    const release = await lock("chat_message", chat.replyId);
    const started = stage.complete({ chat_id: chat.chatId, id: chat.replyId });
    const stop = () => stage.user.call(`POST /api/tasks/chat/${chat.chatId}/stop`);
    await expect.poll(async () => (await stop()).body.task_ids.length, { timeout: 10_000 }).toBe(1);
    await release();
    await started;
    await stage.ended(chat.chatId);
    const { done, content } = await stage.message(chat.chatId, chat.replyId);
    expect([done, content.split(" ").length < 1_000]).toEqual([true, true]);
  });

  it("of a temporary chat ends when another process has taken it for dead", async () => {
    const client = await stage.connect();
    const [chatId, id] = [`temporary:${randomUUID()}`, randomUUID()];
    answerSlowly();
    await stage.complete({ chat_id: chatId, id });
    await client.event((_, data) => data?.message_id === id);
    await other.query("delete from chat_run where chat_id = $1", [chatId]);
    await stage.upstream.socketsAtMost(0);
    expect(eventsOf(client, id).some(({ data }) => data.data?.done === true)).toBe(false);
  });

  it("that had ended leaves its message numbers that no event has had", async () => {
    const client = await stage.connect();
    const chat = await stage.makeChat();
    stage.upstream.reply(path, text("Hello"));
    await stage.complete({ chat_id: chat.chatId, id: chat.replyId });
    await stage.ended(chat.chatId);
    const place = { chat_id: chat.chatId, message_id: chat.replyId };
    const { seq } = await client.emit("chat:resume", { ...place, seq: 1_000_000 });
    await other.query(
      `insert into chat_run (id, chat_id, message_id, user_id, owner_id, created_at) values ($1, $2, $3, $4, 'gone', 0)`,
      [randomUUID(), chat.chatId, chat.replyId, stage.user.id],
    );
    await stage.ended(chat.chatId);
    const after = await client.emit("chat:resume", { ...place, seq });
    expect(after.seq).toBeGreaterThan(seq + 100);
    expect(after.snapshot).toMatchObject({ content: "Hello", done: true });
  });

  it("is told of although another could not be", async () => {
    stage.upstream.reply(path, text("Hello"));
    const [mute, told] = [await makeOrphan(), await makeOrphan()];
    const client = await stage.connect();
    await other.query(`
      create function refuse_seq() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse_seq before update of seq on chat_message for each row
        when (new.id = '${mute.replyId}' and old.done) execute function refuse_seq()`);
    const isEnd = (id: string) => (_: string, data: { chat_id?: string; data?: { type?: string } }) =>
      data?.chat_id === id && data.data?.type === "chat:active";
    await Promise.all([client.event(isEnd(mute.chatId)), client.event(isEnd(told.chatId))]);
    expect(eventsOf(client, told.replyId).length).toBe(3);
    await other.query("drop trigger refuse_seq on chat_message");
  });
});
