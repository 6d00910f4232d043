import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scimClient, scimToken } from "#plugins/scim/scim.fixture.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { callServer } from "#test/support/app.ts";
import { chatDriver } from "#test/support/chat-driver.ts";
import { isFull, report } from "#test/support/faults.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { tokens } from "#test/support/upstream-scripts.ts";

/** The promise, where nothing else runs; a machine that is shared with other suites gets longer. */
const longest = isFull ? 2_000 : 10_000;

/** Contract D.26: what an account holds is dead within two seconds, on whichever replica the provider calls. */
describe("deactivation by an identity provider, on three replicas", () => {
  let all: ChatServers;

  beforeAll(async () => {
    all = await startChatServers({
      database: "server",
      replicas: 3,
      env: {
        SCIM_ENABLED: "true",
        SCIM_TOKEN: scimToken,
        ENABLE_API_KEYS: "true",
        USER_PERMISSIONS_FEATURES_API_KEYS: "true",
      },
    });
  }, 180_000);
  afterAll(() => all?.close());

  const urlOf = (at: number) => all.servers[at]!.url;

  it.each([
    [
      "active=false",
      (id: string) => scimClient(urlOf(0)).patch(`/Users/${id}`, { op: "replace", value: { active: false } }),
    ],
    ["DELETE", (id: string) => scimClient(urlOf(0)).call(`DELETE /Users/${id}`)],
  ])(
    "by %s ends sessions, keys, sockets and runs everywhere",
    { timeout: 60_000 },
    async (what, deactivate) => {
      const { token } = all.admin();
      const email = `${what.replace("=", "-").toLowerCase()}@example.test`;
      const body = { name: what, email, password: "Correct-horse-1", role: "user" };
      await callServer(urlOf(0), "POST /api/v1/auths/add", { token, body });
      const person = await callServer(urlOf(0), "POST /api/v1/auths/signin", { body });
      const sockets = await Promise.all(
        [0, 1, 2].map((at) => connectPlain(urlOf(at), { token: person.body.token })),
      );
      await Promise.all(sockets.map((socket) => socket.sessionId()));
      const made = await callServer(urlOf(0), "POST /api/v1/auths/api_key", { token: person.body.token });
      const credentials = [person.body.token, made.body.api_key] as string[];
      const ask = async () =>
        await Promise.all(
          [0, 1, 2].flatMap((at) =>
            credentials.map(
              async (credential) =>
                (await callServer(urlOf(at), "GET /api/v1/auths/", { token: credential })).status,
            ),
          ),
        );
      expect(await ask()).toEqual(Array.from({ length: 6 }, () => 200));
      // A run on another replica than the one that the provider calls, and a plain stream on the third.
      all.upstream.reply("/chat/completions", tokens(100_000, 50));
      all.upstream.reply("/chat/completions", tokens(100_000, 50));
      const chat = await chatDriver(() => urlOf(1), person.body.token).makeChat();
      const from = all.upstream.requests.length;
      const driver = chatDriver(() => urlOf(1), person.body.token);
      expect((await driver.complete({ chat_id: chat.chatId, id: chat.replyId })).status).toBe(200);
      const stream = fetch(`${urlOf(2)}/api/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${made.body.api_key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "alpha", stream: true, messages: [{ role: "user", content: "Hi" }] }),
      });
      expect((await stream).status).toBe(200);
      const works = () =>
        all.upstream.requests.slice(from).filter(({ path }) => path.endsWith("/chat/completions"));
      await expect.poll(() => works().length).toBe(2);

      const started = performance.now();
      const closed = sockets.map(async (socket) => {
        await socket.closed;
        return performance.now() - started;
      });
      expect((await deactivate(person.body.id)).status).toBeLessThan(300);
      const times = await Promise.all(closed);
      await expect
        .poll(ask, { timeout: longest, interval: 50 })
        .toEqual(
          Array.from({ length: 6 }, () => expect.toSatisfy((status) => status === 401 || status === 403)),
        );
      const ends = await Promise.all(works().map(async ({ aborted }) => (await aborted) - started));
      report("D.26", `${what} to the last dead socket of three replicas`, { ms: Math.max(...times) });
      report("D.26", `${what} to the end of a run and a stream`, { ms: Math.max(...ends) });
      expect(Math.max(...times)).toBeLessThan(longest);
      expect(Math.max(...ends)).toBeLessThan(longest);
      const { error, done } = (await callServer(urlOf(0), `GET /api/v1/chats/${chat.chatId}`, { token })).body
        .chat.history.messages[chat.replyId];
      expect([done, error ?? null]).toEqual([true, null]);
    },
  );
});
