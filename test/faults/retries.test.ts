import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { report } from "#test/support/faults.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

/** Promise R10: retries are safe. */
describe("the same Idempotency-Key ten times at once", () => {
  let app: App;
  let started: AppWithUpstream;
  let upstream: Upstream;
  let user: TestUser;

  beforeAll(async () => {
    started = await startAppWithUpstream();
    ({ app, upstream } = started);
    upstream.always("/chat/completions", text("one effect"));
    user = await app.user();
  });

  afterAll(() => started?.close());

  const uploadOf = (content: string) => {
    const form = new FormData();
    form.append("file", new File([content], "a.txt", { type: "text/plain" }));
    return form;
  };
  const upload = (key: string, content: string) =>
    user.call("POST /api/v1/files/?process=false", uploadOf(content), { "idempotency-key": key });
  const ask = (key: string, seed: number) =>
    user.call(
      "POST /api/chat/completions",
      { model: "alpha", seed, messages: [{ role: "user", content: "Hi" }] },
      { "idempotency-key": key },
    );

  // A message belongs to one chat, and each key makes a chat.
  const userIds = { r: crypto.randomUUID(), s: crypto.randomUUID() };
  const makeChat = (key: string, title: string) =>
    user.call(
      "POST /api/v1/chats/new",
      { chat: { title, models: ["alpha"], history: { messages: {}, currentId: null } } },
      { "idempotency-key": key },
    );
  const askInChat = (key: keyof typeof userIds, seed: number) =>
    user.call(
      "POST /api/chat/completions",
      {
        model: "alpha",
        stream: true,
        parent_id: null,
        session_id: "s",
        user_message: { id: userIds[key], content: "Hi" },
        messages: [{ role: "user", content: "Hi" }],
        seed,
      },
      { "idempotency-key": key },
    );
  const countChats = async () => (await user.call("GET /api/v1/chats/")).body.length as number;
  /** Calls of the upstream for runs, once all of them have ended. */
  const countRuns = async () => {
    const tasks = async () => (await (await app.admin()).call("GET /api/tasks")).body.tasks;
    await expect.poll(tasks).toEqual([]);
    return upstream.requests.filter(({ body }) => body?.seed === 3).length;
  };

  it.each([
    ["a chat", () => makeChat("n", "same"), () => makeChat("n", "other"), countChats],
    ["the chat that a completion makes", () => askInChat("r", 3), () => askInChat("r", 4), countChats],
    ["a reply in a chat", () => askInChat("s", 3), () => askInChat("s", 4), countRuns],
    [
      "an upload",
      () => upload("u", "same"),
      () => upload("u", "other"),
      async () => (await user.call("GET /api/v1/files/count")).body,
    ],
    [
      "a completion",
      () => ask("c", 1),
      () => ask("c", 2),
      async () => upstream.requests.filter(({ path }) => path.endsWith("/chat/completions")).length,
    ],
  ] as const)(
    "%s has one effect, equal replies, and another body is refused",
    async (name, send, sendOther, countEffects) => {
      const before = toNumber(await countEffects());
      const answers = await Promise.all(Array.from({ length: 10 }, send));
      const repeats = [await send(), await send()];
      const done = [...answers, ...repeats].filter(({ status }) => status === 200);
      const waiting = answers.filter(({ status }) => status === 409);
      expect(done.length + waiting.length).toBe(12);
      expect(new Set(done.map((answer) => answer.text)).size).toBe(1);
      expect(toNumber(await countEffects()) - before).toBe(1);
      expect((await sendOther()).status).toBe(409);
      report("R10", name, {
        sent: 12,
        effects: 1,
        "equal replies": done.length,
        "told to wait": waiting.length,
      });
    },
  );
});

function toNumber(count: unknown): number {
  return typeof count === "number"
    ? count
    : ((count as { count?: number; total?: number }).count ?? (count as { total: number }).total);
}
