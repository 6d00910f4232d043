import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { chatDriver } from "#test/support/chat-driver.ts";
import { report, times } from "#test/support/faults.ts";
import { setUp } from "#test/support/set-up.ts";
import { within } from "#test/support/sockets.ts";
import { paced, makePieces } from "#test/support/upstream-paced.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;

setUp(async (keep) => {
  ({ app, upstream } = await keep(startAppWithUpstream()));
});

const upstreams = {
  streams: paced(makePieces(5_000), { every: 10 }),
  "says nothing": paced(["late"], { every: 600_000 }),
};

/** Promise R24: what is deleted is gone, the runs that write into it too. */
it.each(
  (["streams", "says nothing"] as const).flatMap((state) =>
    (["the chat", "all chats", "the folder", "the account"] as const).map((what) => [what, state] as const),
  ),
)("deleting %s ends a run whose upstream %s, and leaves no row", { timeout: 60_000 }, async (what, state) => {
  const user = await app.user();
  const me = chatDriver(() => app.url, user.token);
  const { chatId, userId, replyId } = await me.makeChat();
  await dress(user, chatId, userId);
  const folder = await me.call("POST /api/v1/folders/", { name: "Work" });
  await me.call(`POST /api/v1/chats/${chatId}/folder`, { folder_id: folder.body.id });
  upstream.reply("/chat/completions", upstreams[state]);
  const asked = upstream.nextRequest("/chat/completions");
  const answer = await me.complete({ chat_id: chatId, id: replyId, user_message: { id: userId } });
  expect(answer.status).toBe(200);
  const request = await asked;
  await expect.poll(async () => (await countRows("chat_id", chatId))["chat_run"]).toBe(1);
  const before = await countRows("chat_id", chatId);
  expect(before).toMatchObject({ chat_message: 2, chat_file: expect.any(Number), shared_chat: 1 });

  const begun = performance.now();
  const deleted = await {
    "the chat": () => me.call(`DELETE /api/v1/chats/${chatId}`),
    "all chats": () => me.call("DELETE /api/v1/chats/"),
    "the folder": () => me.call(`DELETE /api/v1/folders/${folder.body.id}?delete_contents=true`),
    "the account": async () => (await app.admin()).call(`DELETE /api/v1/users/${user.id}`),
  }[what]();
  expect(deleted.status).toBe(200);
  expect(await within(10_000, request.aborted)).toBeDefined();
  const ms = performance.now() - begun;
  await expect.poll(() => countRows("chat_id", chatId), { timeout: 5_000 }).toEqual({});
  if (what === "the account") {
    expect(await countRows("user_id", user.id)).toEqual({});
  }
  report("R24", `${what} deleted while the upstream ${state}`, {
    "upstream let go after ms": ms,
    "rows before": Object.values(before).reduce((sum, count) => sum + count, 0),
    "rows left": 0,
  });
  expect(ms).toBeLessThan(2_000 * times(2, 1));
});

/** Gives a chat what belongs to chats: a file, a share, a tag. */
async function dress(user: TestUser, chatId: string, messageId: string): Promise<void> {
  const call = (route: string, body?: unknown) => user.call(route, body);
  const form = new FormData();
  form.append("file", new File(["text"], "a.txt", { type: "text/plain" }));
  const { body: file } = await call("POST /api/v1/files/?process=false", form);
  const files = [{ type: "file", id: file.id, name: "a.txt" }];
  const answers = [
    await call(`POST /api/v1/chats/${chatId}`, {
      chat: { files, history: { messages: { [messageId]: { files } } } },
    }),
    await call(`POST /api/v1/chats/${chatId}/tags`, { name: "work" }),
    await call(`POST /api/v1/chats/${chatId}/share`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
}

/** How many rows of which table name this value in a column of this name; tables without one are left out. */
async function countRows(column: string, value: string): Promise<Record<string, number>> {
  const { database } = app.running;
  const { rows: tables } = await database.query(
    "select table_name as name from information_schema.columns where column_name = $1 and table_schema = current_schema()",
    [column],
  );
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await database.query(
      `select count(*)::int as count from "${name}" where "${column}"::text = $1`,
      [value],
    );
    if (rows[0].count > 0) {
      counts.set(String(name), rows[0].count);
    }
  }
  return Object.fromEntries(counts);
}
