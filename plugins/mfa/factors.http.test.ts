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

describe("changes of factors", () => {
  it("need a proof of the last 5 minutes with the factor itself (S105)", async () => {
    const { email, id } = member();
    const { token, codes, recovery } = await steps.enrol({ email });
    await sql`update account_session set factor_at = factor_at - 301 where user_id = ${id}`.execute(
      app.running.database.db,
    );
    const as = { token };
    const changes = [
      () => steps.post("mfa/replace", {}, as),
      () => steps.post("mfa/recovery_codes", {}, as),
      () => app.call("DELETE /api/v1/auths/mfa/totp", as),
      () => steps.post("mfa/passkeys/options", {}, { ...as, headers: { host: "localhost" } }),
    ];
    for (const change of changes) {
      expect(await change()).toMatchObject({ status: 403, body: { detail: "reauthentication_required" } });
    }
    // Who stole the session may know the password, too.
    expect((await steps.post("mfa/reauthenticate", { password }, as)).status).toBe(400);
    expect((await steps.post("mfa/reauthenticate", { code: "000000" }, as)).status).toBe(400);
    expect((await steps.post("mfa/recovery_codes", {}, as)).status).toBe(403);
    expect((await steps.post("mfa/reauthenticate", { code: codes.code() }, as)).status).toBe(200);
    expect((await steps.post("mfa/recovery_codes", {}, as)).body.recovery_codes).toHaveLength(10);
    const { body: step } = await steps.signIn(email);
    expect(
      (await steps.post("mfa/verify", { challenge_token: step.challenge_token, code: recovery[0] })).status,
    ).toBe(400);
    expect((await app.call("DELETE /api/v1/auths/mfa/totp", as)).body.detail).toContain("required");
  });

  it("replace the app, end the other sessions, and leave the old app worthless", async () => {
    const { email } = member();
    const { token, codes } = await steps.enrol({ email });
    const { body: step } = await steps.signIn(email);
    const other = await steps.post("mfa/verify", {
      challenge_token: step.challenge_token,
      code: codes.code(),
    });
    const { body: started } = await steps.post("mfa/replace", {}, { token });
    const next = openCodeApp(started.manual_key);
    const form = { challenge_token: started.challenge_token, code: next.code(-1) };
    // The token of a change is of no use to anybody else, nor to nobody.
    expect((await steps.post("mfa/enroll/confirm", form)).status).toBe(403);
    expect((await steps.post("mfa/enroll/confirm", form, { token: factorApp.admin })).status).toBe(403);
    expect((await steps.post("mfa/enroll/confirm", form, { token })).status).toBe(200);
    for (const ended of [token, other.body.token]) {
      expect((await app.call("GET /api/v1/auths", { token: ended })).status).toBe(401);
    }
    const { body: again } = await steps.signIn(email);
    const verify = (code: string) =>
      steps.post("mfa/verify", { challenge_token: again.challenge_token, code });
    expect((await verify(codes.code(1))).status).toBe(400);
    expect((await verify(next.code())).status).toBe(200);
  });

  it("are not made with API keys, which need no second factor themselves", async () => {
    const { email } = member();
    const { token } = await steps.enrol({ email });
    await app.call("POST /api/v1/users/default/permissions", {
      token: factorApp.admin,
      body: { features: { api_keys: true } },
    });
    const { body } = await app.call("POST /api/v1/auths/api_key", { token });
    const key = body.api_key as string;
    expect((await app.call("GET /api/v1/auths", { token: key })).status).toBe(200);
    expect((await own(key)).body).toMatchObject({ fresh_until: 0 });
    expect((await steps.post("mfa/recovery_codes", {}, { token: key })).status).toBe(403);
  });
});

it("of somebody else are as those that do not exist", async () => {
  const [owner, other] = [member(), member()];
  await steps.enrol(owner);
  const { token } = await steps.enrol(other);
  const row = { id: "theirs", user_id: owner.id };
  await sql`insert into mfa_passkey (id, user_id, name, public_key, counter, rp_id, transports, is_synced, created_at)
    values (${row.id}, ${row.user_id}, 'Phone', '', 0, 'localhost', '[]', false, 0)`.execute(
    app.running.database.db,
  );
  for (const id of [row.id, "absent"]) {
    const renamed = await steps.post(`mfa/passkeys/${id}`, { name: "Mine" }, { token });
    const removed = await app.call(`DELETE /api/v1/auths/mfa/passkeys/${id}`, { token });
    expect([renamed.status, removed.status]).toEqual([404, 404]);
  }
});

describe("for administrators", () => {
  it("a reset is audited with its reason, ends everything, and its token opens the next enrolment", async () => {
    const { email, id } = member();
    const { token, codes, recovery } = await steps.enrol({ email });
    const reset = (body: unknown) =>
      app.call(`POST /api/v1/auths/mfa/accounts/${id}/reset`, { token: factorApp.admin, body });
    expect((await reset({ reason: " " })).status).toBe(422);
    const { body } = await reset({ reason: "lost the phone" });
    expect((await app.call("GET /api/v1/auths", { token })).status).toBe(401);
    const { body: step } = await steps.signIn(email);
    expect(step.next_step).toBe("recover");
    const recover = (value: string) =>
      steps.post("mfa/recover", { challenge_token: step.challenge_token, reset_token: value });
    expect(
      (await steps.post("mfa/verify", { challenge_token: step.challenge_token, code: recovery[0] })).status,
    ).toBe(401);
    expect((await recover(codes.code())).status).toBe(400);
    const enrol = await recover(body.reset_token);
    expect(enrol.body.next_step).toBe("enroll");
    const { body: started } = await steps.post("mfa/enroll", { challenge_token: enrol.body.challenge_token });
    const form = { challenge_token: started.challenge_token, code: openCodeApp(started.manual_key).code() };
    expect((await steps.post("mfa/enroll/confirm", form)).status).toBe(200);
    expect((await steps.signIn(email)).body.next_step).toBe("verify");
    const { body: audit } = await app.call(`GET /api/v1/audit?object_id=${id}&action=auth.mfa.reset`, {
      token: factorApp.admin,
    });
    expect(audit.records[0]).toMatchObject({ action: "auth.mfa.reset", after: { reason: "lost the phone" } });
    expect(JSON.stringify(audit)).not.toContain(body.reset_token);
  });

  it("the rules ask roles and groups, and let others choose", async () => {
    const { email, id } = member();
    await settings({ MFA_REQUIRED_ROLES: ["admin"] });
    const free = await steps.signIn(email);
    expect(free.body.token).toBeDefined();
    const group = await app.call("POST /api/v1/groups/create", {
      token: factorApp.admin,
      body: { name: "Guarded", description: "" },
    });
    await app.call(`POST /api/v1/groups/id/${group.body.id}/users/add`, {
      token: factorApp.admin,
      body: { user_ids: [id] },
    });
    await settings({ MFA_REQUIRED_GROUPS: [group.body.id] });
    expect((await app.call("GET /api/v1/auths", { token: free.body.token })).status).toBe(401);
    expect((await steps.signIn(email)).body.next_step).toBe("enroll");
    await settings({ MFA_REQUIRED_GROUPS: [] });
    // A factor of one's own choice is asked for, and can be removed.
    const { body: session } = await steps.signIn(email);
    const { body: started } = await steps.post("mfa/enroll", {}, { token: session.token });
    const form = { challenge_token: started.challenge_token, code: openCodeApp(started.manual_key).code(-1) };
    const { body: chosen } = await steps.post("mfa/enroll/confirm", form, { token: session.token });
    expect((await steps.signIn(email)).body.next_step).toBe("verify");
    const { body: list } = await app.call(`GET /api/v1/auths/mfa/accounts?query=${email}`, {
      token: factorApp.admin,
    });
    expect(list.accounts).toEqual([
      expect.objectContaining({ id, totp: true, passkeys: 0, required: false }),
    ]);
    expect((await app.call("DELETE /api/v1/auths/mfa/totp", { token: chosen.token })).status).toBe(200);
    const { body: audit } = await app.call(`GET /api/v1/audit?object_id=${id}&action=auth.mfa.disabled`, {
      token: factorApp.admin,
    });
    expect(audit.records).toMatchObject([{ actor_id: id, before: { factor: "totp" } }]);
    expect((await steps.signIn(email)).body.token).toBeDefined();
    await settings({ MFA_REQUIRED_ROLES: ["user", "admin"] });
    const { body: counts } = await app.call("GET /api/v1/auths/mfa/accounts", { token: factorApp.admin });
    expect(list.asked).toBeLessThan(counts.asked);
    expect(counts.asked).toBe(counts.all);
    expect(counts.asked_without_factor).toBe(counts.all - counts.with_factor);
  });

  it("secrets lie encrypted, and codes as hashes", async () => {
    const { email, id } = member();
    const { recovery } = await steps.enrol({ email });
    const { db } = app.running.database;
    const accounts = await sql<{
      secret: string;
    }>`select secret from mfa_account where user_id = ${id}`.execute(db);
    expect(accounts.rows[0]?.secret).toMatch(/^sealed:v1:/);
    const codes = await sql<{
      hash: string;
    }>`select hash from mfa_recovery_code where user_id = ${id}`.execute(db);
    expect(codes.rows.some(({ hash }) => recovery.includes(hash))).toBe(false);
  });
});
