import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Reply } from "#kernel/http/route.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { outsideSignIn } from "#plugins/accounts/service.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { z } from "zod";
import { TOTP } from "otpauth";
import { findStep } from "./factors/totp.ts";
import { openSteps } from "./mfa.fixture.ts";
import { resetCommand } from "./reset.ts";

/** Signs in whoever another plugin vouches for, as a directory or an identity provider does. */
const vouching = definePlugin({
  id: "vouching",
  title: "Vouching",
  uses: { signIn: outsideSignIn },
  setup({ use }) {
    const route = defineRoute(
      {
        method: "POST",
        path: "/vouch",
        summary: "Sign somebody in",
        access: "public",
        body: z.object({ email: z.string(), method: z.enum(["ldap", "oauth"]) }),
        returns: z.unknown(),
      },
      async ({ body, request }): Promise<Reply> =>
        await use.signIn.signIn({ email: body.email }, { method: body.method, request }),
    );
    return { routes: { api: [route] } };
  },
});

const header = "x-forwarded-email";
let app: App;
let admin: string;
let member: TestUser;
let steps: ReturnType<typeof openSteps>;
const vouch = (method: string, email: string) => app.call("POST /api/v1/vouch", { body: { method, email } });

beforeAll(async () => {
  app = await startApp({ env: { DEFAULT_USER_ROLE: "user" }, plugins: [vouching] });
  steps = openSteps(app);
  const first = await app.admin();
  member = await app.user();
  await first.call("POST /api/v1/auths/admin/config/mfa", { ENABLE_MFA: true });
  admin = (await steps.enrol(first)).token;
});
afterAll(() => app.close());

const rules = (body: unknown) => app.call("POST /api/v1/auths/admin/config/mfa", { token: admin, body });

describe("a sign-in whose identity somebody else has checked", () => {
  afterEach(() => rules({ MFA_ALLOW_OAUTH_BYPASS: false, ENABLE_MFA: true }));

  it.each(["ldap", "oauth"])(
    "asks for the second factor after %s, by answer and by cookie",
    async (method) => {
      const { body, headers } = await vouch(method, `${method}@example.test`);
      expect(body).toMatchObject({ next_step: "enroll", expires_in: 300 });
      const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
      expect(decodeURIComponent(cookie)).toBe(`sign_in_step=${body.challenge_token}`);
      const waiting = await app.call("GET /api/v1/auths/mfa/challenge", { headers: { cookie } });
      expect(waiting.body.next_step).toBe("enroll");
    },
  );

  it("passes over providers alone, and only while that is allowed", async () => {
    await rules({ MFA_ALLOW_OAUTH_BYPASS: true });
    expect((await vouch("ldap", "some@example.test")).body.next_step).toBe("enroll");
    const { body } = await vouch("oauth", "some@example.test");
    const read = () => app.call("GET /api/v1/auths", { token: body.token });
    expect((await read()).status).toBe(200);
    const claims = JSON.parse(Buffer.from(body.token.split(".")[1], "base64url").toString());
    expect(claims).toMatchObject({ mfa_verified: false, auth_method: "oauth" });
    await rules({ MFA_ALLOW_OAUTH_BYPASS: false });
    expect((await read()).status).toBe(401);
  });

  it("closes every step while the second factor is off", async () => {
    const { body } = await vouch("ldap", "off@example.test");
    await rules({ ENABLE_MFA: false });
    const token = { challenge_token: body.challenge_token };
    for (const [path, form] of [
      ["mfa/enroll", token],
      ["mfa/verify", { ...token, code: "000000" }],
      ["mfa/recover", { ...token, reset_token: "x" }],
      ["mfa/passkey/options", {}],
    ] as const) {
      expect((await steps.post(path, form)).status).toBe(400);
    }
    expect((await vouch("ldap", "off@example.test")).body.token).toBeDefined();
  });
});

it("asks behind a proxy that signs people in, unless that is allowed without", async () => {
  const env = { WEBUI_AUTH_TRUSTED_EMAIL_HEADER: header, DEFAULT_USER_ROLE: "user", ENABLE_MFA: "true" };
  const proxied = await startApp({ env });
  const enter = () =>
    proxied.call("POST /api/v1/auths/signin", { headers: { [header]: "uma@example.test" } });
  expect((await enter()).body.next_step).toBe("enroll");
  await proxied.close();
  const open = await startApp({ env: { ...env, MFA_ALLOW_TRUSTED_HEADER_BYPASS: "true" } });
  const { body } = await open.call("POST /api/v1/auths/signin", {
    headers: { [header]: "uma@example.test" },
  });
  expect(
    (await open.call("GET /api/v1/auths", { token: body.token, headers: { [header]: "uma@example.test" } }))
      .status,
  ).toBe(200);
  await open.close();
});

describe("the reset on the command line", () => {
  const run = async (options: Record<string, string>) => {
    const lines: string[] = [];
    await resetCommand.run({
      config: {} as never,
      db: app.running.database.db as never,
      options,
      notify: async () => {},
      print: (line) => void lines.push(line),
    });
    return lines.join("\n");
  };

  it.each([
    [{ email: "", reason: "lost" }, "--email"],
    [{ email: "admin@example.test" }, "--reason"],
    [{ email: "admin@example.test", reason: " x " }, "--reason"],
    [{ email: "nobody@example.test", reason: "lost it" }, "nobody@example.test"],
  ])("refuses %j and names what is missing", async (options, named) => {
    await expect(run(options as Record<string, string>)).rejects.toThrow(named);
  });

  it("is audited, ends the sessions, and its token opens one enrolment", async () => {
    const { id, email, token } = member;
    const { token: session } = await steps.enrol({ email });
    const printed = await run({ email: email.toUpperCase(), reason: "lost the phone" });
    const resetToken = /: (\S{32})$/m.exec(printed)?.[1] ?? "";
    await expect
      .poll(async () => (await app.call("GET /api/v1/auths", { token: session })).status, { timeout: 5000 })
      .toBe(401);
    expect((await app.call("GET /api/v1/auths", { token })).status).toBe(401);
    const { rows } = await sql<{ actor_name: string; after: unknown }>`
      select actor_name, after from audit_record where object_id = ${id} and action = 'auth.mfa.reset'`.execute(
      app.running.database.db,
    );
    expect(rows).toEqual([{ actor_name: "command line", after: { reason: "lost the phone" } }]);
    const { body: step } = await steps.signIn(email);
    const enrol = await steps.post("mfa/recover", {
      challenge_token: step.challenge_token,
      reset_token: resetToken,
    });
    expect(enrol.body.next_step).toBe("enroll");
  });
});

it("counts time as RFC 6238 does, one step to either side (I30, I33)", () => {
  const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const vectors = new TOTP({ secret, digits: 8 });
  expect(vectors.generate({ timestamp: 59_000 })).toBe("94287082");
  expect(vectors.generate({ timestamp: 1_111_111_109_000 })).toBe("07081804");
  const at = (now: number, lastStep: number | null = null) => findStep(secret, "287082", { lastStep, now });
  expect([at(59_000), at(30_000 + 59_000), at(60_000 + 59_000)]).toEqual([1, 1, undefined]);
  expect([at(59_000, 0), at(59_000, 1)]).toEqual([1, undefined]);
});
