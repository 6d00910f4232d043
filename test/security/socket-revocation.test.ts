import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain, connectSocketIo, within } from "#test/support/sockets.ts";

let app: App;
let member: TestUser;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { USER_PERMISSIONS_FEATURES_API_KEYS: "true" } });
  admin = await app.admin();
  member = await app.user();
});

afterAll(() => app.close());

describe("what is taken away (security case S99)", () => {
  const cases: [string, (user: TestUser) => Promise<unknown>][] = [
    ["signing out", ({ token }) => app.call("POST /api/v1/auths/signout", { token })],
    ["a new role", ({ id }) => admin.call(`POST /api/v1/users/${id}/update`, { role: "pending" })],
    [
      "a new password",
      ({ id }) => admin.call(`POST /api/v1/users/${id}/update`, { password: "Another-horse-2" }),
    ],
    ["deleting the account", ({ id }) => admin.call(`DELETE /api/v1/users/${id}`)],
  ];
  it.each(cases)("%s ends the connections within two seconds, and no others", async (_what, revoke) => {
    const user = await app.user();
    const plain = await connectPlain(app.url, { token: user.token });
    const io = await connectSocketIo(app.url, user.token);
    const bystander = await connectPlain(app.url, { token: member.token });
    await plain.sessionId();
    const gone = new Promise((resolve) => io.once("disconnect", resolve));
    await revoke(user);
    expect(await within(2_000, plain.closed)).toEqual({ code: 4001, reason: "Not authenticated" });
    expect(await within(2_000, gone)).toBe("io server disconnect");
    expect(await bystander.emit("heartbeat")).toBe(true);
    bystander.close();
  });

  it("keys that are switched off end theirs", async () => {
    const { api_key } = (await member.call("POST /api/v1/auths/api_key")).body;
    const client = await connectPlain(app.url, { token: api_key });
    await client.sessionId();
    const body = { features: { api_keys: false } };
    await admin.call("POST /api/v1/users/default/permissions", body);
    expect(await within(2_000, client.closed)).toMatchObject({ code: 4003 });
  });

  it("keys that are for other endpoints open none", async () => {
    const restricted = await startApp({
      env: {
        USER_PERMISSIONS_FEATURES_API_KEYS: "true",
        ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: "true",
        API_KEYS_ALLOWED_ENDPOINTS: "/api/v1/models",
      },
    });
    const boss = await restricted.admin();
    const { api_key } = (await boss.call("POST /api/v1/auths/api_key")).body;
    const client = await connectPlain(restricted.url, { token: api_key });
    expect(await client.closed).toMatchObject({ code: 4003 });
    const allowed = { API_KEYS_ALLOWED_ENDPOINTS: "/api/v1/models,/ws" };
    await boss.call("POST /api/v1/configs/settings", allowed);
    const again = await connectPlain(restricted.url, { token: api_key });
    expect(await within(2_000, again.sessionId())).toBeDefined();
    again.close();
    await restricted.close();
  });
});
