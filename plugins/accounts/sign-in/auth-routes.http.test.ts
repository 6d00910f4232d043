import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer, App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
beforeAll(async () => {
  app = await useApp({ env: { DEFAULT_USER_ROLE: "user" } });
});
afterAll(() => app.close());

const password = "Correct-horse-1";
const cookieOf = (answer: Answer) => answer.headers.getSetCookie();
const cleared = ["token", "oauth_id_token", "oauth_session_id"].map((name) => `${name}=; Path=/; Max-Age=0`);
let count = 0;

/** Addresses of their own, so that one test's tries do not count for another. */
const from = () => ({ "x-forwarded-for": `10.1.0.${++count}` });

async function signUp(): Promise<{ email: string; answer: Answer }> {
  await app.admin();
  const email = `web${++count}@example.test`;
  const answer = await app.call("POST /api/v1/auths/signup", { body: { name: "Web", email, password } });
  expect(answer.status).toBe(200);
  return { email, answer };
}

describe("signing up", () => {
  it("answers a session object and sets the cookie", async () => {
    const { email, answer } = await signUp();
    expect(answer.body).toMatchObject({ token_type: "Bearer", email, name: "Web", role: "user" });
    expect(answer.body.permissions.chat.temporary).toBe(true);
    expect(answer.text).not.toContain("$2");
    const [cookie] = cookieOf(answer);
    expect(cookie).toMatch(/^token=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
  });

  it.each([
    [{ name: "X", email: "no address", password }, 422],
    [{ name: "", email: "y@example.test", password }, 422],
    [{ email: "y@example.test", password }, 422],
    [{ name: "X", email: "y@example.test", password: "" }, 400],
    [{ name: "X", email: "y@example.test", password: "p".repeat(73) }, 400],
    [{ name: "X", email: ["a@b.c"], password }, 422],
    [null, 422],
    [[], 422],
    ["x", 422],
  ])("refuses %j with %i", async (body, status) => {
    await app.admin();
    const answer = await app.call("POST /api/v1/auths/signup", { body: JSON.stringify(body) });
    expect(answer.status).toBe(status);
    expect(answer.body).toHaveProperty("detail");
  });

  it.each(["1234567", "öäüöäüö"])("refuses the short password %j on every way in", async (short) => {
    const boss = await app.admin();
    const user = await app.user();
    const form = { name: "X", email: "short@example.test", password: short };
    const change = { password: "Correct-horse-1", new_password: short };
    const answers = [
      await app.call("POST /api/v1/auths/signup", { body: form }),
      await boss.call("POST /api/v1/auths/add", form),
      await user.call("POST /api/v1/auths/update/password", change),
      await boss.call(`POST /api/v1/users/${user.id}/update`, { password: short }),
    ];
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([400, { detail: "The password must have at least 8 characters." }]);
    }
    const long = { ...form, password: `${short}!` };
    expect((await boss.call("POST /api/v1/auths/add", long)).status).toBe(200);
    await boss.call(
      `DELETE /api/v1/users/${(await app.call("POST /api/v1/auths/signin", { body: long })).body.id}`,
    );
  });

  it("answers 409 for a taken address in any letter case", async () => {
    const { email } = await signUp();
    const answer = await app.call("POST /api/v1/auths/signup", {
      body: { name: "X", email: email.toUpperCase(), password },
    });
    expect(answer.status).toBe(409);
  });

  it("ignores a role in the form", async () => {
    await app.admin();
    const body = { name: "X", email: `r${++count}@example.test`, password, role: "admin" };
    expect((await app.call("POST /api/v1/auths/signup", { body })).body.role).toBe("user");
  });
});

describe("a session over HTTP", () => {
  it("is accepted as bearer, in the key header and as cookie, and reads itself", async () => {
    const { email, answer } = await signUp();
    const { token } = answer.body;
    const ways: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { "x-api-key": token },
      { cookie: `a=b; token=${token}` },
    ];
    for (const headers of ways) {
      const own = await app.call("GET /api/v1/auths/", { headers });
      expect(own.status).toBe(200);
      expect(own.body).toMatchObject({
        email,
        token,
        expires_at: answer.body.expires_at,
        bio: null,
        status_emoji: null,
      });
      expect(cookieOf(own)[0]).toContain(`token=${token}`);
    }
    expect((await app.call("GET /api/v1/auths", { token })).status).toBe(200);
  });

  it("gets 401 without a credential or with a bad one", async () => {
    const bad: Record<string, string>[] = [
      {},
      { authorization: "Bearer x" },
      { authorization: "Basic eDp5" },
      { cookie: "token=" },
    ];
    for (const headers of bad) {
      const answer = await app.call("GET /api/v1/auths/", { headers });
      expect(answer.status).toBe(401);
      expect(answer.body).toHaveProperty("detail");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  // Contract 1.1. The cookie of a session that was ended stays: another sign-in may have replaced it by then.
  it("loses its cookies when the token in them fails, and keeps them when its session was ended", async () => {
    const ask = (token: string) => app.call("GET /api/v1/auths/", { headers: { cookie: `token=${token}` } });
    const { token } = (await signUp()).answer.body;
    expect((await ask(token)).status).toBe(200);
    const failed = await ask(`${token}x`);
    expect(failed.status).toBe(401);
    expect(cookieOf(failed).map((cookie) => cookie.split(";", 3).join(";"))).toEqual(cleared);
    expect((await app.call("GET /api/v1/auths/", { token: `${token}x` })).headers.has("set-cookie")).toBe(
      false,
    );
    await app.call("POST /api/v1/auths/signout", { token });
    const ended = await ask(token);
    expect([ended.status, cookieOf(ended)]).toEqual([401, []]);
  });

  it("ends when it is signed out, which clears the cookies", async () => {
    const { token } = (await signUp()).answer.body;
    const answer = await app.call("POST /api/v1/auths/signout", { token });
    expect(answer.body).toEqual({ status: true });
    expect(cookieOf(answer).map((cookie) => cookie.split(";", 3).join(";"))).toEqual(cleared);
    expect((await app.call("GET /api/v1/auths/", { token })).status).toBe(401);
    expect((await app.call("POST /api/v1/auths/signout", { token })).status).toBe(200);
  });

  it("goes on with a new cookie after a password change; the others end", async () => {
    const { email, answer } = await signUp();
    const other = (
      await app.call("POST /api/v1/auths/signin", { body: { email, password }, headers: from() })
    ).body.token;
    const body = { password, new_password: "Another-horse-2" };
    const wrong = await app.call("POST /api/v1/auths/update/password", {
      token: other,
      body: { ...body, password: "no" },
    });
    expect(wrong.status).toBe(400);
    const changed = await app.call("POST /api/v1/auths/update/password", { token: other, body });
    expect(changed.body).toBe(true);
    const next = /^token=([^;]+)/.exec(cookieOf(changed)[0] ?? "")?.[1];
    expect((await app.call("GET /api/v1/auths/", { headers: { cookie: `token=${next}` } })).status).toBe(200);
    for (const token of [other, answer.body.token]) {
      expect((await app.call("GET /api/v1/auths/", { token })).status).toBe(401);
    }
  });
});

describe("what strangers send", () => {
  it.each([
    ["signin", 20_000, 413],
    ["signup", 6_000_000, 200],
  ])("to %s, with a picture of %i characters, is answered with %i", async (route, length, status) => {
    await app.admin();
    const email = `big${++count}@example.test`;
    const picture = `data:image/png;base64,iVBORw0KGgo${"A".repeat(length + 1)}`;
    const body = { name: "Big", email, password, profile_image_url: picture };
    expect((await app.call(`POST /api/v1/auths/${route}`, { body })).status).toBe(status);
  });
});

describe("signing in", () => {
  it("answers a session, 400 for a wrong password, and 429 with Retry-After after 15 tries", async () => {
    const { email } = await signUp();
    const good = await app.call("POST /api/v1/auths/signin", { body: { email, password }, headers: from() });
    expect(good.status).toBe(200);
    expect(cookieOf(good)).toHaveLength(1);
    for (let tried = 0; tried < 15; tried++) {
      const bad = await app.call("POST /api/v1/auths/signin", {
        body: { email, password: "wrong" },
        headers: from(),
      });
      expect(bad.status).toBe(400);
    }
    const refused = await app.call("POST /api/v1/auths/signin", {
      body: { email, password },
      headers: from(),
    });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("works with a stale cookie in the browser", async () => {
    const { email } = await signUp();
    const headers = { ...from(), cookie: "token=stale" };
    expect((await app.call("POST /api/v1/auths/signin", { body: { email, password }, headers })).status).toBe(
      200,
    );
  });

  it("marks the cookie Secure over https", async () => {
    const { email } = await signUp();
    const headers = { ...from(), "x-forwarded-proto": "https" };
    const answer = await app.call("POST /api/v1/auths/signin", { body: { email, password }, headers });
    expect(cookieOf(answer)[0]).toContain("; Secure");
  });
});

describe("pending accounts", () => {
  it("read themselves and whom to ask, and nothing that members may", async () => {
    const pending = await app.user("pending");
    expect((await pending.call("GET /api/v1/auths/")).body.role).toBe("pending");
    const contact = await pending.call("GET /api/v1/auths/admin/details");
    expect(contact.body).toEqual({ name: "admin", email: "admin@example.test" });
    const profile = { name: "X", profile_image_url: "/user.png" };
    expect((await pending.call("POST /api/v1/auths/update/profile", profile)).status).toBe(403);
    expect((await pending.call("POST /api/v1/auths/api_key")).status).toBe(403);
  });
});

describe("API keys", () => {
  it("are made, used, masked and deleted by admins", async () => {
    const boss = await app.admin();
    const made = await boss.call("POST /api/v1/auths/api_key");
    expect(made.body.api_key).toMatch(/^sk-[0-9a-f]{64}$/);
    const key: string = made.body.api_key;
    const own = await app.call("GET /api/v1/auths/", { token: key });
    expect(own.body.id).toBe(boss.id);
    expect(cookieOf(own)).toEqual([]);
    expect((await app.call("GET /api/v1/auths/", { headers: { "x-api-key": key } })).status).toBe(200);
    const view = await boss.call("GET /api/v1/auths/api_key");
    expect(view.body).toEqual({ api_key: `sk-…${key.slice(-4)}`, created_at: expect.any(Number) });
    expect((await boss.call("DELETE /api/v1/auths/api_key")).body).toBe(true);
    expect((await app.call("GET /api/v1/auths/", { token: key })).status).toBe(401);
    expect((await boss.call("GET /api/v1/auths/api_key")).status).toBe(404);
  });

  it("follow the permission of their owner and the switch at once", async () => {
    const admin = await app.admin();
    const user = await app.user();
    expect((await user.call("POST /api/v1/auths/api_key")).status).toBe(403);
    const defaults = (allowed: boolean) =>
      admin.call("POST /api/v1/users/default/permissions", { features: { api_keys: allowed } });
    await defaults(true);
    const key = (await user.call("POST /api/v1/auths/api_key")).body.api_key;
    expect((await app.call("GET /api/v1/auths/", { token: key })).status).toBe(200);
    await defaults(false);
    expect((await app.call("GET /api/v1/auths/", { token: key })).status).toBe(403);
    await defaults(true);
    const config = (on: boolean) => admin.call("POST /api/v1/auths/admin/config", { ENABLE_API_KEYS: on });
    await config(false);
    expect((await app.call("GET /api/v1/auths/", { token: key })).status).toBe(403);
    await config(true);
    expect((await app.call("GET /api/v1/auths/", { token: key })).status).toBe(200);
    await defaults(false);
  });
});
