import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { openCodeApp, type openSteps, password, startFactorApp } from "./mfa.fixture.ts";

let factorApp: Awaited<ReturnType<typeof startFactorApp>>;
let app: App;
let steps: ReturnType<typeof openSteps>;

beforeAll(async () => {
  factorApp = await startFactorApp();
  ({ app, steps } = factorApp);
});
afterAll(() => app.close());

const member = () => factorApp.member();
const own = (token: string) => factorApp.own(token);
const settings = (body: unknown) => factorApp.settings(body);

describe("a sign-in while a second factor is required", () => {
  it("gives no session but an enrolment, and ends sessions that began without one", async () => {
    const { email, token } = member();
    expect((await app.call("GET /api/v1/auths", { token })).status).toBe(401);
    const { status, body, headers } = await steps.signIn(email);
    expect(status).toBe(200);
    expect(body).toEqual({
      next_step: "enroll",
      challenge_token: expect.stringMatching(/^[\da-f-]{36}\.[\w-]{43}$/),
      expires_in: 300,
      methods: ["totp", "passkey"],
    });
    expect(headers.get("set-cookie")).toMatch(/^sign_in_step=.*HttpOnly/);
    // The token opens nothing but the next step.
    expect((await app.call("GET /api/v1/auths", { token: body.challenge_token })).status).toBe(401);
    const { body: started } = await steps.post("mfa/enroll", { challenge_token: body.challenge_token });
    expect(started.manual_key).toMatch(/^[A-Z2-7]{32}$/);
    expect(Buffer.from(started.qr_code.split(",")[1], "base64").toString()).toMatch(/^<svg/);
    // Nothing is active before the first right code.
    expect((await steps.signIn(email)).body.next_step).toBe("enroll");
    const form = { challenge_token: body.challenge_token, code: openCodeApp(started.manual_key).code() };
    const done = await steps.post("mfa/enroll/confirm", form);
    expect(done.status).toBe(200);
    expect(new Set(done.body.recovery_codes).size).toBe(10);
    expect(
      done.body.recovery_codes.every((code: string) => /^[\da-z]{4}-[\da-z]{4}-[\da-z]{4}$/.test(code)),
    ).toBe(true);
    const state = await own(done.body.token);
    expect(state.body).toMatchObject({ enabled: true, required: true, recovery_codes_left: 10 });
    expect(state.text).not.toContain(started.manual_key);
    expect((await steps.signIn(email)).body).toMatchObject({
      next_step: "verify",
      methods: ["totp", "recovery_code"],
    });
  });

  it("takes a code of the step before, and every code once", async () => {
    const { email } = member();
    const { codes } = await steps.enrol({ email });
    const verify = async (code: string) =>
      await steps.post("mfa/verify", {
        challenge_token: (await steps.signIn(email)).body.challenge_token,
        code,
      });
    // The enrolment took the code of the step before.
    expect((await verify(codes.code(-1))).status).toBe(400);
    expect((await verify(codes.code(-2))).status).toBe(400);
    expect((await verify(codes.code(3))).status).toBe(400);
    const code = codes.code();
    const both = await Promise.all([verify(`${code.slice(0, 3)} ${code.slice(3)}`), verify(code)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const session = both.find(({ status }) => status === 200)?.body;
    const claims = JSON.parse(Buffer.from(session.token.split(".")[1], "base64url").toString());
    expect(claims).toMatchObject({ mfa_verified: true, auth_method: "password", typ: "session" });
    expect((await verify(codes.code(1))).status).toBe(200);
  });

  it("takes a recovery code once, however many ask at the same time and with whatever gaps", async () => {
    const { email } = member();
    const { recovery } = await steps.enrol({ email });
    const [code = "", second = ""] = recovery;
    const tokens = await Promise.all(
      Array.from({ length: 6 }, async () => (await steps.signIn(email)).body.challenge_token),
    );
    const gaps = ` ${code.slice(0, 8)} ${code.slice(8).toUpperCase()}`;
    const answers = await Promise.all(
      tokens.map((token, index) =>
        steps.post("mfa/verify", { challenge_token: token, code: index % 2 ? gaps : code }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { body: step } = await steps.signIn(email);
    const other = await steps.post("mfa/verify", {
      challenge_token: step.challenge_token,
      recovery_code: second,
    });
    expect((await own(other.body.token)).body.recovery_codes_left).toBe(8);
  });

  it("takes 5 tries for a challenge and 10 for an account, and tells when to come again", async () => {
    const { email } = member();
    const { codes } = await steps.enrol({ email });
    const { body: step } = await steps.signIn(email);
    const guess = (token: string, code = "000000") =>
      steps.post("mfa/verify", { challenge_token: token, code });
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await guess(step.challenge_token)).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    const { body: next } = await steps.signIn(email);
    for (let count = 0; count < 5; count += 1) {
      await guess(next.challenge_token);
    }
    const { body: last } = await steps.signIn(email);
    const right = await guess(last.challenge_token, codes.code());
    expect(right.status).toBe(429);
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(800);
    expect(Number(right.headers.get("retry-after"))).toBeLessThanOrEqual(900);
  });

  it("refuses foreign, used, spent and misplaced challenge tokens", async () => {
    const [first, second] = [member(), member()];
    const { codes, recovery } = await steps.enrol(first);
    await steps.enrol(second);
    const { body: theirs } = await steps.signIn(second.email);
    expect(
      (await steps.post("mfa/verify", { challenge_token: theirs.challenge_token, code: codes.code() }))
        .status,
    ).toBe(400);
    expect(
      (await steps.post("mfa/verify", { challenge_token: theirs.challenge_token, code: recovery[0] })).status,
    ).toBe(400);
    const { body: step } = await steps.signIn(first.email);
    const token = step.challenge_token as string;
    for (const bad of [`${second.id}${token.slice(token.indexOf("."))}`, "x", "", "sealed:v1:x"]) {
      expect((await steps.post("mfa/verify", { challenge_token: bad, code: codes.code() })).status).toBe(401);
    }
    // No second app through a sign-in that asks for the first.
    expect((await steps.post("mfa/enroll", { challenge_token: token })).status).toBe(401);
    expect(
      (await steps.post("mfa/enroll/confirm", { challenge_token: token, code: codes.code() })).status,
    ).toBe(401);
    expect((await steps.post("mfa/recover", { challenge_token: token, reset_token: "x" })).status).toBe(401);
    expect((await steps.post("mfa/verify", { challenge_token: token, code: codes.code() })).status).toBe(200);
    expect((await steps.post("mfa/verify", { challenge_token: token, code: recovery[1] })).status).toBe(401);
    const { body: old } = await steps.signIn(first.email);
    await sql`update mfa_challenge set expires_at = 0 where user_id = ${first.id}`.execute(
      app.running.database.db,
    );
    expect(
      (await steps.post("mfa/verify", { challenge_token: old.challenge_token, code: recovery[1] })).status,
    ).toBe(401);
  });

  it("goes on by cookie where a redirect or a reload lost the token", async () => {
    const { email } = member();
    const { recovery } = await steps.enrol({ email });
    const cookie = (await steps.signIn(email)).headers.get("set-cookie")?.split(";")[0] ?? "";
    const headers = { cookie };
    const waiting = await app.call("GET /api/v1/auths/mfa/challenge", { headers });
    expect(waiting.body).toMatchObject({ next_step: "verify", methods: ["totp", "recovery_code"] });
    const done = await steps.post("mfa/verify", { code: recovery[0] }, { headers });
    expect(done.status).toBe(200);
    expect(done.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^token=/),
      expect.stringMatching(/^sign_in_step=; .*Max-Age=0/),
    ]);
    expect((await app.call("GET /api/v1/auths/mfa/challenge", { headers })).body).toEqual({
      next_step: null,
    });
  });

  it("shows pending accounts that they wait, and the overlay's texts only while it is off", async () => {
    const form = { name: "Waits", email: "waits@example.test", password, role: "pending" };
    await app.call("POST /api/v1/auths/add", { token: factorApp.admin, body: form });
    await settings({ ENABLE_MFA: false });
    const { token: waiting } = (await steps.signIn(form.email)).body;
    await settings({ ENABLE_MFA: true });
    expect((await steps.signIn(form.email)).body).toEqual({ next_step: "pending" });
    const texts = {
      PENDING_USER_OVERLAY_TITLE: "Wait here",
      PENDING_USER_OVERLAY_CONTENT: "Somebody comes.",
    };
    const { body: present } = await app.call("GET /api/v1/auths/admin/config", { token: factorApp.admin });
    await app.call("POST /api/v1/auths/admin/config", {
      token: factorApp.admin,
      body: { ...present, ...texts },
    });
    const overlay = async () => (await app.call("GET /api/config", { token: waiting })).body.ui;
    expect(await overlay()).toMatchObject({
      pending_user_overlay_title: "",
      pending_user_overlay_content: "",
    });
    await settings({ ENABLE_MFA: false });
    expect(await overlay()).toMatchObject({ pending_user_overlay_title: "Wait here" });
    await settings({ ENABLE_MFA: true });
  });
});
