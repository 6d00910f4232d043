import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { within } from "#test/support/sockets.ts";
import { tokens } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let started: AppWithUpstream;
let upstream: Upstream;
let admin: TestUser;

beforeAll(async () => {
  started = await startAppWithUpstream({ env: { USER_PERMISSIONS_FEATURES_API_KEYS: "true" } });
  ({ app, upstream } = started);
  upstream.always("/chat/completions", tokens(600, 50));
  admin = await app.admin();
});
afterAll(() => started?.close());

type Revocation = (user: TestUser) => Promise<unknown>;
const update =
  (body: object): Revocation =>
  ({ id }) =>
    admin.call(`POST /api/v1/users/${id}/update`, body);

/** Security case S99: an open stream ends when its caller would be refused now. */
describe("a stream that is open when its caller loses the account", () => {
  const cases: [string, Revocation][] = [
    ["signing out", ({ token }) => app.call("POST /api/v1/auths/signout", { token })],
    ["a new role", update({ role: "pending" })],
    ["a new password", update({ password: "Another-horse-2" })],
    ["deleting the account", ({ id }) => admin.call(`DELETE /api/v1/users/${id}`)],
  ];
  it.each(cases)("%s ends it within two seconds, and the upstream's; others go on", async (_what, revoke) => {
    const [user, bystander] = [await app.user(), await app.user()];
    const passed = await ask(user.token, "/api/chat/completions");
    const translated = await ask(user.token, "/api/message");
    const other = await ask(bystander.token, "/api/chat/completions");
    const calls = upstream.requests.filter(({ path }) => path.endsWith("/chat/completions"));
    const [first, second] = calls.slice(-3).map(({ aborted }) => aborted);
    await revoke(user);
    expect(await within(2_000, Promise.all([passed.end, translated.end]))).toEqual(["broken", "broken"]);
    expect(await within(2_000, Promise.all([first, second]))).toBeDefined();
    const size = other.size();
    await expect.poll(other.size).toBeGreaterThan(size);
    other.leave();
  });

  it("a key that is switched off ends its streams as well; one that stays allowed keeps them", async () => {
    const set = (body: object) => admin.call("POST /api/v1/auths/admin/config", body);
    const { api_key } = (await admin.call("POST /api/v1/auths/api_key")).body;
    const stream = await ask(api_key, "/api/chat/completions");
    await set({ ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: true, API_KEYS_ALLOWED_ENDPOINTS: "/api/chat" });
    const size = stream.size();
    await expect.poll(stream.size).toBeGreaterThan(size);
    await set({ ENABLE_API_KEYS: false });
    expect(await within(2_000, stream.end)).toBe("broken");
  });
});

interface Asked {
  /** Bytes that came so far. */
  size(): number;
  readonly end: Promise<"ended" | "broken">;
  leave(): void;
}

/** Asks for a reply of half a minute and resolves once the first piece of it is there. */
async function ask(token: string, path: string): Promise<Asked> {
  const leaving = new AbortController();
  const answer = await fetch(app.url + path, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "alpha",
      stream: true,
      max_tokens: 1000,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
  const started = Promise.withResolvers<void>();
  let size = 0;
  const read = async () => {
    for await (const piece of answer.body as ReadableStream<Uint8Array>) {
      size += piece.length;
      started.resolve();
    }
    return "ended" as const;
  };
  const end = read().catch(() => "broken" as const);
  await started.promise;
  return { size: () => size, end, leave: () => leaving.abort() };
}
