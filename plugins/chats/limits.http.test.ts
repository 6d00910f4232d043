import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { type ChatClient, chatClient, conversation, replied, said, withoutAuthor } from "./chats.fixture.ts";

let app: App;
beforeAll(async () => {
  app = await startApp({ env: { LIMIT_COPY_BYTES_PER_MINUTE: "3000000", LIMIT_CONCURRENT_IMPORTS: "1" } });
});
afterAll(() => app?.close());

const person = async () => chatClient(app, (await app.user()).token);

/** A chat of so many bytes, in messages of 10 KB. */
function longChat(bytes: number) {
  const count = Math.ceil(bytes / 10_000);
  const messages = Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const [id, parentId] = [`m${n}`, n === 0 ? null : `m${n - 1}`];
      const more = { childrenIds: n === count - 1 ? [] : [`m${n + 1}`] };
      const content = `${n} `.padEnd(10_000, "words and words ");
      const message =
        n % 2 === 0
          ? said(id, content, { ...more, parentId })
          : replied(id, String(parentId), { ...more, content });
      return [id, message];
    }),
  );
  return { history: { currentId: `m${count - 1}`, messages } };
}

const ids = (chats: { id: string }[]) => chats.map(({ id }) => id).toSorted();

it("a long chat is copied in slices, and stands in no list before it is whole", async () => {
  const me = await person();
  const { id, chat } = await me.make(longChat(1_000_000));
  const clone = me.call(`POST /${id}/clone`);
  const state = { isDone: false };
  void clone.then(() => (state.isDone = true));
  const seen: string[][] = [];
  while (!state.isDone) {
    seen.push(ids((await me.call("GET /")).body));
  }
  const made = (await clone).body;
  expect(withoutAuthor(made.chat.history)).toEqual(withoutAuthor(chat.history));
  expect(made.meta).toEqual({ task_id: null });
  // It shows before its answer has been read to the end.
  const both = [id, made.id].toSorted();
  expect(seen[0]).toEqual([id]);
  expect(seen.every((list) => list.length === 1 || String(list) === String(both))).toBe(true);
  expect(ids((await me.call("GET /")).body)).toEqual(both);
});

it("a copy that fails leaves nothing behind, and the chat may not change meanwhile", async () => {
  const me = await person();
  const { id } = await me.make(longChat(1_000_000));
  const clone = me.call(`POST /${id}/clone`);
  await me.call(`POST /${id}/messages/m0`, { content: "changed" });
  expect([200, 409]).toContain((await clone).status);
  const bad = { chat: { title: "Bad", history: { messages: { a: { role: "user", parentId: 1 } } } } };
  const good = { chat: { title: "Good", ...longChat(200_000) } };
  const { status, body } = await me.call("POST /import", { chats: [good, bad] });
  expect([status, body.detail]).toEqual([400, expect.stringContaining("Chat 1 of the import")]);
  const { rows } = await app.running.database.query("select 1 from chat where meta ? 'copying'");
  expect(rows).toEqual([]);
});

it("imports and clones are bounded in bytes a minute and in number, for each account", async () => {
  const [me, other] = [await person(), await person()];
  const chats = [{ chat: { title: "Long", ...longChat(1_400_000) } }];
  const [first, second] = await Promise.all([
    me.call("POST /import", { chats }),
    me.call("POST /import", { chats }),
  ]);
  const [done, refused] = first?.status === 200 ? [first, second] : [second, first];
  expect([done?.status, refused?.status]).toEqual([200, 429]);
  expect(refused?.body.detail).toBe("You have 1 imports under way already. Wait for one to end.");
  expect(refused?.headers.get("retry-after")).toBe("1");
  const { id } = done?.body[0] ?? {};
  expect((await me.call(`POST /${id}/clone`)).status).toBe(200);
  const third = await me.call(`POST /${id}/clone`);
  expect([third.status, third.body.detail]).toEqual([
    429,
    "Your imports and clones take more than 3000000 bytes a minute.",
  ]);
  expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(30);
  expect((await other.call("POST /import", { chats })).status).toBe(200);
});

it("an import of many chats goes in slices, and others write meanwhile", async () => {
  const [me, other]: [ChatClient, ChatClient] = [await person(), await person()];
  const { id } = await other.make({ title: "Small" });
  const write = async () => {
    const started = performance.now();
    expect((await other.call(`POST /${id}/pin`)).status).toBe(200);
    return performance.now() - started;
  };
  const chats = Array.from({ length: 1_000 }, (_, n) => ({
    chat: { title: `Chat ${n}`, ...conversation() },
  }));
  const imported = me.call("POST /import", { chats });
  let writes = 0;
  const state = { isDone: false };
  void imported.then(() => (state.isDone = true));
  while (!state.isDone) {
    await write();
    writes += 1;
  }
  expect((await imported).body).toHaveLength(1_000);
  expect(writes).toBeGreaterThan(5);
  expect((await me.call("GET /")).body).toHaveLength(1_000);
});
