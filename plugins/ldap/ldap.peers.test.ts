import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { toCommonName } from "./directory.ts";
import { people, signIn, toEnv } from "./people.fixture.ts";
import { hasSlapd, startDirectory, type TestDirectory } from "./slapd.fixture.ts";

let directory: TestDirectory;
let app: App;

describe.skipIf(!hasSlapd)("sign-in at a directory (needs slapd)", () => {
  beforeAll(async () => {
    directory = await startDirectory(people);
    app = await startApp({ env: toEnv(directory) });
    await app.admin();
  });
  afterAll(async () => {
    await app?.close();
    await directory?.close();
  });

  it("makes an account at the first sign-in and finds it again", async () => {
    const first = await signIn(app, "ada", "ada-password");
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      email: "ada@mill.test",
      name: "Ada Miller",
      role: "user",
      token_type: "Bearer",
    });
    expect(first.headers.get("set-cookie")).toContain("token=");
    const second = await signIn(app, " ada ", "ada-password");
    expect(second.body.id).toBe(first.body.id);
    const own = await app.call("GET /api/v1/auths", { token: second.body.token });
    expect(own).toMatchObject({ status: 200, body: { email: "ada@mill.test" } });
  });

  it("answers a wrong password, an unknown name and two of one name alike", async () => {
    const answers = [
      await signIn(app, "bea", "wrong"),
      await signIn(app, "nobody", "wrong"),
      await signIn(app, "twin", "twin-password"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(new Set(answers.map(({ body }) => body.detail))).toEqual(
      new Set(["The name or the password is not right."]),
    );
  });

  it.each(["", "   "])(
    "takes no empty password (%j), which a directory would accept from anybody",
    async (password) => {
      expect((await signIn(app, "ada", password)).status).toBe(400);
    },
  );

  it.each(["*", "ad*", "ada)(uid=*", "\\2a", "(|(uid=ada))"])(
    "searches for %j as it is written",
    async (user) => {
      expect((await signIn(app, user, "ada-password")).status).toBe(400);
    },
  );

  it("finds names that hold characters of filters", async () => {
    expect((await signIn(app, "star*", "star*-password")).body.email).toBe("star*@mill.test");
  });

  it("blames the entry without an address, to administrators alone", async () => {
    const admin = await app.admin();
    expect((await signIn(app, "nomail", "nomail-password")).status).toBe(400);
    const tried = await admin.call("POST /api/v1/auths/admin/config/ldap/try", {
      user: "nomail",
      password: "nomail-password",
    });
    expect(tried).toMatchObject({ status: 400, body: { detail: "What signs in names no e-mail address." } });
  });

  it("counts tries of one name", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 16; count += 1) {
      statuses.push((await signIn(app, "guessed", `no-${count}`)).status);
    }
    expect(statuses.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 400));
    expect(statuses[15]).toBe(429);
  });

  it("is refused while password sign-in is off, and while the directory is", async () => {
    const closed = await startApp({ env: toEnv(directory, { ENABLE_PASSWORD_AUTH: "false" }) });
    try {
      expect((await signIn(closed, "ada", "ada-password")).status).toBe(403);
    } finally {
      await closed.close();
    }
    const admin = await app.admin();
    const toggle = (on: boolean) => admin.call("POST /api/v1/auths/admin/config/ldap", { enable_ldap: on });
    expect((await toggle(false)).body).toEqual({ ENABLE_LDAP: false });
    expect(await signIn(app, "ada", "ada-password")).toMatchObject({
      status: 400,
      body: { detail: "Signing in at a directory is switched off." },
    });
    expect((await app.call("GET /api/config")).body.features.enable_ldap).toBe(false);
    expect((await toggle(true)).body).toEqual({ ENABLE_LDAP: true });
  });

  it("shows its settings without the password, and keeps it when the mask comes back", async () => {
    const admin = await app.admin();
    const path = "/api/v1/auths/admin/config/ldap/server";
    const { body } = await admin.call(`GET ${path}`);
    expect(body).toMatchObject({
      host: "127.0.0.1",
      port: directory.port,
      use_tls: false,
      attribute_for_mail: "mail",
    });
    expect(body.app_dn_password).not.toContain("mill-secret");
    const saved = await admin.call(`POST ${path}`, { ...body, label: "Mill" });
    expect(saved).toMatchObject({ status: 200, body: { label: "Mill" } });
    expect((await signIn(app, "bea", "bea-password")).status).toBe(200);
    const empty = await admin.call(`POST ${path}`, { ...body, search_base: " " });
    expect(empty).toMatchObject({ status: 400, body: { detail: "search_base must not be empty." } });
    const person = await app.user();
    expect((await person.call(`GET ${path}`)).status).toBe(403);
  });

  it("tells an administrator each step of a try, and signs nobody in", async () => {
    const admin = await app.admin();
    const attempt = (user: string, password: string) =>
      admin.call("POST /api/v1/auths/admin/config/ldap/try", { user, password });
    const before = (await admin.call("GET /api/v1/users/all")).body.total;
    const good = await attempt("star*", "star*-password");
    expect(good.body).toMatchObject({
      ok: true,
      reason: null,
      person: { email: "star*@mill.test", groups: null },
      outcome: { role: "user" },
    });
    expect(good.body.steps.map(({ step, ok }: { step: string; ok: boolean }) => [step, ok])).toEqual([
      ["connect", true],
      ["search", true],
      ["password", true],
    ]);
    const bad = await attempt("bea", "no");
    expect(bad.body).toMatchObject({ ok: false, person: null, outcome: null });
    expect(bad.body.steps.at(-1)).toMatchObject({ step: "password", ok: false });
    expect((await admin.call("GET /api/v1/users/all")).body.total).toBe(before);
  });
});

describe("the common name of a group", () => {
  it.each([
    ["cn=Millers,dc=mill,dc=test", "Millers"],
    ["CN=Mill\\, north,OU=Groups,DC=mill", "Mill, north"],
    ["ou=x,cn=Second,dc=mill", "Second"],
    ["cn=M\\c3\\bcller,dc=mill", "Müller"],
    ["plain", "plain"],
    ["ou=none,dc=mill", undefined],
  ])("of %j is %j", (dn, name) => expect(toCommonName(dn)).toBe(name));
});
