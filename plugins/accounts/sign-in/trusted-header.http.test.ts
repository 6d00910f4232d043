import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { connectPlain } from "#test/support/sockets.ts";

const variables = {
  WEBUI_AUTH_TRUSTED_EMAIL_HEADER: "X-Forwarded-Email",
  WEBUI_AUTH_TRUSTED_NAME_HEADER: "X-Forwarded-Name",
  WEBUI_AUTH_TRUSTED_GROUPS_HEADER: "X-Forwarded-Groups",
  WEBUI_AUTH_TRUSTED_ROLE_HEADER: "X-Forwarded-Role",
  // Neither forms nor open sign-up are needed where a proxy signs people in.
  ENABLE_SIGNUP: "false",
  ENABLE_PASSWORD_AUTH: "false",
  ENABLE_PASSWORD_VALIDATION: "true",
  PASSWORD_VALIDATION_REGEX_PATTERN: "^correct horse$",
};
let app: App;
let root: { token: string; id: string };

const signIn = (headers: Record<string, string>, body?: unknown) =>
  app.call("POST /api/v1/auths/signin", { headers, body });
const makeGroup = async (name: string) =>
  (await app.call("POST /api/v1/groups/create", { token: root.token, body: { name } })).body.id as string;
const groupsOf = async (token: string) =>
  (await app.call("GET /api/v1/users/groups", { token })).body.map((group: { name: string }) => group.name);

beforeAll(async () => {
  app = await startApp({ env: variables });
  root = (await signIn({ "x-forwarded-email": "root@example.test", "x-forwarded-role": "user" })).body;
});
afterAll(() => app?.close());

describe("sign-in by the word of a proxy", () => {
  it("makes the first account the admin, and an account for each new address", async () => {
    expect(root).toMatchObject({ role: "admin", email: "root@example.test", name: "root@example.test" });
    const headers = { "x-forwarded-email": "Uma@Example.test", "x-forwarded-name": "Uma%20Gr%C3%BCn" };
    const first = await signIn(headers, { email: "root@example.test", password: "whatever" });
    expect(first.body).toMatchObject({ role: "pending", email: "uma@example.test", name: "Uma Grün" });
    expect(first.headers.get("set-cookie")).toMatch(/^token=/);
    expect((await signIn({ ...headers, "x-forwarded-name": "Other" }, "no=json")).body).toMatchObject({
      id: first.body.id,
      name: "Uma Grün",
    });
  });

  it("one account comes of many first sign-ins at once", async () => {
    const headers = { "x-forwarded-email": "crowd@example.test" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it("takes role and groups over at each sign-in; other groups are left, unknown ones are not made", async () => {
    await Promise.all([makeGroup("Staff"), makeGroup("Büro, Nord"), makeGroup("Others")]);
    const email = { "x-forwarded-email": "vera@example.test" };
    const headers = { ...email, "x-forwarded-role": "user" };
    const { token } = (await signIn({ ...headers, "x-forwarded-groups": "Staff, Others,Nobody" })).body;
    expect(await groupsOf(token)).toEqual(["Others", "Staff"]);
    const named = { ...headers, "x-forwarded-groups": "Staff,B%C3%BCro%2C%20Nord" };
    expect(await groupsOf((await signIn(named)).body.token)).toEqual(["Büro, Nord", "Staff"]);
    expect(await groupsOf((await signIn(headers)).body.token)).toEqual(["Büro, Nord", "Staff"]);
    expect(await groupsOf((await signIn({ ...headers, "x-forwarded-groups": "" })).body.token)).toEqual([]);

    const promoted = await signIn({ ...email, "x-forwarded-role": "admin" });
    expect(promoted.body.role).toBe("admin");
    expect((await app.call("GET /api/v1/auths/", { token })).status).toBe(401);
    expect((await signIn(email)).body.role).toBe("admin");
    // The primary administrator cannot be locked out.
    const again = { "x-forwarded-email": "root@example.test", "x-forwarded-role": "pending" };
    expect((await signIn(again)).body.role).toBe("admin");
  });

  it("is refused without the header, and with one that makes no sense", async () => {
    const refusals: [Record<string, string>, RegExp][] = [
      [{}, /sent no X-Forwarded-Email/],
      [{ "x-forwarded-email": "nobody" }, /X-Forwarded-Email holds no e-mail address/],
      [{ "x-forwarded-email": "a@b.test", "x-forwarded-role": "boss" }, /X-Forwarded-Role must be one of/],
    ];
    for (const [headers, text] of refusals) {
      const { status, body } = await signIn(headers, { email: "root@example.test", password: "x" });
      expect([status, body.detail]).toEqual([400, expect.stringMatching(text)]);
    }
  });

  it("a session is good for nobody but the person at the proxy, over HTTP and sockets", async () => {
    const { token } = root;
    const ask = async (headers: Record<string, string>) =>
      (await app.call("GET /api/v1/auths/", { token, headers })).status;
    expect(await ask({})).toBe(200);
    expect(await ask({ "x-forwarded-email": "Root@example.test" })).toBe(200);
    expect(await ask({ "x-forwarded-email": "uma@example.test" })).toBe(401);
    expect(await ask({})).toBe(200);
    const foreign = await connectPlain(app.url, {
      token,
      headers: { "x-forwarded-email": "uma@example.test" },
    });
    expect(await foreign.closed).toMatchObject({ code: 4001 });
    const { api_key } = (await app.call("POST /api/v1/auths/api_key", { token })).body;
    // A key belongs to a program, which may run anywhere.
    const key = { token: api_key, headers: { "x-forwarded-email": "uma@example.test" } };
    expect((await app.call("GET /api/v1/auths/", key)).status).toBe(200);
  });

  it("shows in the public settings, and there are no passwords to change", async () => {
    expect((await app.call("GET /api/config")).body.features.auth_trusted_header).toBe(true);
    const body = { password: "x", new_password: "y" };
    const changed = await app.call("POST /api/v1/auths/update/password", { token: root.token, body });
    expect(changed.status).toBe(400);
  });
});

it("believes the proxies of FORWARDED_ALLOW_IPS and nobody else", async () => {
  const env = { ...variables, FORWARDED_ALLOW_IPS: "10.1.2.3" };
  const guarded = await startApp({ env });
  const headers = { "x-forwarded-email": "root@example.test" };
  const answer = await guarded.call("POST /api/v1/auths/signin", { headers });
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(/sent no/)]);
  await guarded.close();
});
