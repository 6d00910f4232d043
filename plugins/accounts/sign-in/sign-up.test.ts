import { afterEach, describe, expect, it } from "vitest";
import type { Environment } from "#config/variable.ts";
import { openTestAccounts, storeUser, type TestAccounts, useUp } from "../accounts.fixture.ts";
import { createConfiguredAdmin } from "./first-admin.ts";
import { toSession } from "./sign-in.fixture.ts";
import { createSignUp } from "./sign-up.ts";

const open: TestAccounts[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

async function start(environment: Environment = {}): Promise<TestAccounts> {
  // The faster algorithm: what is tested here is not the hashing.
  const app = await openTestAccounts({ PASSWORD_HASH_ALGORITHM: "argon2", ...environment });
  open.push(app);
  return app;
}

/** Where everybody comes from. */
const address = "10.0.0.1";

const form = (email: string) => ({
  name: "Somebody",
  email,
  password: "pass word 1",
  profile_image_url: "/user.png",
});

it("makes one admin of fifty first sign-ups at once, and everybody else pending", async () => {
  const app = await start();
  const { signUp } = createSignUp(app.deps);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => signUp(form(`p${index}@example.org`), address)),
  );
  const roles = answers.map((each) => toSession(each).answer.role);
  expect(roles.filter((role) => role === "admin")).toHaveLength(1);
  expect(roles.filter((role) => role === "pending")).toHaveLength(49);
});

it("takes one of several sign-ups with the same address", async () => {
  const app = await start();
  await storeUser(app.db, "admin");
  const { signUp } = createSignUp(app.deps);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => signUp(form("same@example.org"), address)),
  );
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused).toHaveLength(4);
  for (const { reason } of refused) {
    expect(reason).toMatchObject({ code: "conflict" });
  }
});

it("gives new accounts the configured role and group; a group that is gone is no obstacle", async () => {
  for (const [groupId, expected] of [
    ["g1", ["g1"]],
    ["gone", []],
  ] as const) {
    const app = await start({ DEFAULT_USER_ROLE: "user", DEFAULT_GROUP_ID: groupId });
    const admin = await storeUser(app.db, "admin");
    const group = {
      id: "g1",
      user_id: admin.id,
      name: "Everybody",
      permissions: { features: { api_keys: true } },
    };
    await app.db
      .insertInto("group")
      .values({ ...group, created_at: 1, updated_at: 1 })
      .execute();
    const { answer } = toSession(await createSignUp(app.deps).signUp(form("new@example.org"), address));
    expect(answer.role).toBe("user");
    expect(answer.permissions["features"]?.["api_keys"]).toBe(expected.length > 0);
    const rows = await app.db
      .selectFrom("group_member")
      .select("group_id")
      .where("user_id", "=", answer.id)
      .execute();
    expect(rows.map((row) => row.group_id)).toEqual(expected);
  }
});

describe("who may sign up", () => {
  const cases: [string, Environment, { first: boolean; later: boolean }][] = [
    ["by default", {}, { first: true, later: true }],
    ["sign-up off", { ENABLE_SIGNUP: "false" }, { first: false, later: false }],
    ["form off", { ENABLE_LOGIN_FORM: "false" }, { first: false, later: false }],
    [
      "form off, first admin allowed",
      { ENABLE_LOGIN_FORM: "false", ENABLE_INITIAL_ADMIN_SIGNUP: "true" },
      { first: true, later: false },
    ],
    ["passwords off", { ENABLE_PASSWORD_AUTH: "false" }, { first: false, later: false }],
    [
      "no accounts at all",
      { WEBUI_AUTH: "false", ENABLE_INITIAL_ADMIN_SIGNUP: "true" },
      { first: false, later: false },
    ],
  ];
  it.each(cases)("%s", async (_name, environment, expected) => {
    const app = await start(environment);
    const { signUp } = createSignUp(app.deps);
    const tried = async (email: string) =>
      await signUp(form(email), address).then(
        () => true,
        (error: { code: string }) => {
          expect(error.code).toBe("forbidden");
          return false;
        },
      );
    expect(await tried("first@example.org")).toBe(expected.first);
    if (!expected.first) {
      await storeUser(app.db, "admin");
    }
    expect(await tried("later@example.org")).toBe(expected.later);
  });

  it("at most one, when fifty come at once while the form is off", async () => {
    const app = await start({ ENABLE_LOGIN_FORM: "false", ENABLE_INITIAL_ADMIN_SIGNUP: "true" });
    const { signUp } = createSignUp(app.deps);
    const tries = Array.from({ length: 50 }, (_, index) => signUp(form(`p${index}@example.org`), address));
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { rows } = await app.database.query(`select role from "user"`);
    expect(rows).toEqual([{ role: "admin" }]);
  });
});

it("is refused after a hundred from one address in three minutes, and from no other", async () => {
  const app = await start();
  await storeUser(app.db, "admin");
  const { signUp } = createSignUp(app.deps);
  await useUp(app.db, `signup:${address}`, 99);
  await signUp(form("hundredth@example.org"), address);
  await expect(signUp(form("next@example.org"), address)).rejects.toMatchObject({ code: "rate_limited" });
  await signUp(form("next@example.org"), "10.0.0.2");
});

it("stores nothing of a sign-up that is refused", async () => {
  const app = await start();
  const bad = { ...form("x@example.org"), password: "" };
  await expect(createSignUp(app.deps).signUp(bad, address)).rejects.toMatchObject({ code: "invalid" });
  const image = { ...form("x@example.org"), profile_image_url: "javascript:alert(1)" };
  await expect(createSignUp(app.deps).signUp(image, address)).rejects.toMatchObject({ code: "invalid" });
  expect((await app.database.query(`select count(*)::int as n from "user"`)).rows).toEqual([{ n: 0 }]);
});

describe("the configured admin", () => {
  const env = {
    WEBUI_ADMIN_EMAIL: "Root@Example.org",
    WEBUI_ADMIN_PASSWORD: "from the environment",
    WEBUI_ADMIN_NAME: "Root",
  };

  it("is created once by replicas that start together, and closes sign-up", async () => {
    const app = await start(env);
    let closed = 0;
    const closeSignUp = async () => void closed++;
    const made = await Promise.all(
      [1, 2, 3].map(() => createConfiguredAdmin({ ...app.deps, closeSignUp, opensAgain: false })),
    );
    expect(made.filter((user) => user !== undefined)).toMatchObject([
      { email: "root@example.org", role: "admin", name: "Root" },
    ]);
    expect(closed).toBeGreaterThan(0);
    closed = 0;
    expect(await createConfiguredAdmin({ ...app.deps, closeSignUp, opensAgain: false })).toBeUndefined();
    expect(closed).toBe(0);
  });

  it("is not created where accounts exist", async () => {
    const app = await start(env);
    await storeUser(app.db);
    expect(
      await createConfiguredAdmin({ ...app.deps, closeSignUp: async () => {}, opensAgain: false }),
    ).toBeUndefined();
  });
});
