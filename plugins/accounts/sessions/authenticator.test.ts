import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "#kernel/access/principal.ts";
import { isJustNow } from "#test/support/clock/now.ts";
import { openTestAccounts, storeUser, type TestAccounts, toCaller } from "../accounts.fixture.ts";
import { createApiKeys } from "../api-keys/api-keys.ts";
import { startSession } from "./sessions.ts";
import { createViews } from "./views.ts";
import { createSignOut } from "../sign-in/sign-out.ts";
import { bumpSessionStamp, deleteUser, setActive, setPassword, updateUser } from "../users/users-store.ts";

let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts();
});
afterAll(() => app.close());

const request = { method: "GET", path: "/api/models", address: "127.0.0.1" };
type Process = Pick<TestAccounts, "authenticator" | "deps">;

async function show(
  value: string,
  { authenticator }: Process = app,
  path = request.path,
): Promise<Principal> {
  return await authenticator.authenticate({ value, source: "bearer" }, { ...request, path });
}

/** What a refused credential is refused with; undefined when it is accepted. */
async function refusal(value: string, process: Process = app, path?: string): Promise<string | undefined> {
  return await show(value, process, path).then(
    () => undefined,
    (error: { code: string }) => error.code,
  );
}

async function signIn(userId: string): Promise<string> {
  return (await startSession(app.deps, { id: userId }, { method: "password", isVerified: false })).signed
    .token;
}

async function makeKey(role: "admin" | "user" = "admin"): Promise<{ key: string; userId: string }> {
  const user = await storeUser(app.db, role);
  const caller = toCaller(user, { permissions: { features: { api_keys: true } } });
  return { key: (await createApiKeys(app.deps).create(caller)).api_key, userId: user.id };
}

describe("a view", () => {
  const views = () => createViews(app.deps, () => app.views.areOpen);
  const startView = async () => {
    const [admin, user] = [await storeUser(app.db, "admin"), await storeUser(app.db)];
    const { signed } = await views().start(toCaller(admin), user.id);
    return { admin, user, token: signed.token };
  };

  it("is the account's caller with the administrator behind it, for half an hour", async () => {
    const { admin, user, token } = await startView();
    const caller = await show(token);
    expect(caller).toMatchObject({ userId: user.id, role: "user", viewer: { id: admin.id } });
    expect(isJustNow((caller.session?.expiresAt ?? 0) - 30 * 60)).toBe(true);
  });

  it("is read again after a change of either account, also where it was cached", async () => {
    const { admin, user, token } = await startView();
    expect(await show(token)).toBe(await show(token));
    await updateUser(app.db, user.id, { name: "Renamed" });
    await app.deps.changes.announce({ userId: user.id });
    expect((await show(token)).name).toBe("Renamed");
    await updateUser(app.db, admin.id, { role: "user" });
    await app.deps.changes.announce({ userId: admin.id });
    expect(await refusal(token)).toBe("unauthenticated");
  });

  it("ends where content of others is closed to administrators", async () => {
    const { token } = await startView();
    await show(token);
    app.views.areOpen = false;
    expect(await refusal(token)).toBe("unauthenticated");
    app.views.areOpen = true;
    expect(await refusal(token)).toBeUndefined();
  });
});

describe("a session", () => {
  it("makes a frozen caller with the effective permissions", async () => {
    const user = await storeUser(app.db, "user", "Mixed.Case@Example.org");
    const caller = await show(await signIn(user.id));
    expect(caller).toMatchObject({
      userId: user.id,
      role: "user",
      email: "mixed.case@example.org",
      credential: "session",
    });
    expect(caller.permissions["chat"]?.["temporary"]).toBe(true);
    expect(caller.permissions["features"]?.["api_keys"]).toBe(false);
    expect(Object.isFrozen(caller)).toBe(true);
    expect(Object.isFrozen(caller.permissions["chat"])).toBe(true);
  });

  it("is answered at once, and by the same caller, when it was seen before", async () => {
    const token = await signIn((await storeUser(app.db)).id);
    const first = await show(token);
    const second = app.authenticator.authenticate({ value: token, source: "cookie" }, request);
    expect(second).toBe(first);
  });

  it("shares one look between requests that come together", async () => {
    const token = await signIn((await storeUser(app.db)).id);
    const callers = await Promise.all(Array.from({ length: 10 }, () => show(token)));
    expect(new Set(callers).size).toBe(1);
  });

  it("belongs to its own account however much two tokens look alike", async () => {
    const users = [await storeUser(app.db), await storeUser(app.db)];
    const tokens = await Promise.all(users.map(({ id }) => signIn(id)));
    expect(tokens[0]?.slice(0, 20)).toBe(tokens[1]?.slice(0, 20));
    const callers = await Promise.all(tokens.map((token) => show(token)));
    expect(callers.map(({ userId }) => userId)).toEqual(users.map(({ id }) => id));
  });

  it("is refused once its account's sessions were ended, deactivated or deleted", async () => {
    const changes = [
      (id: string) => bumpSessionStamp(app.db, id),
      (id: string) => setPassword(app.db, id, "another hash"),
      (id: string) => setActive(app.db, id, false),
      (id: string) => deleteUser(app.db, id),
    ];
    for (const change of changes) {
      const { id } = await storeUser(app.db);
      const token = await signIn(id);
      await show(token);
      await change(id);
      await app.deps.changes.announce({ userId: id });
      expect(await refusal(token)).toBe("unauthenticated");
    }
  });

  it("carries a new role, name and group permissions right after the change", async () => {
    const user = await storeUser(app.db, "pending");
    const token = await signIn(user.id);
    expect((await show(token)).role).toBe("pending");
    await updateUser(app.db, user.id, { role: "user", name: "Renamed" });
    const now = Math.floor(Date.now() / 1000);
    const group = { id: "g1", user_id: user.id, name: "Keys", created_at: now, updated_at: now };
    await app.db
      .insertInto("group")
      .values({ ...group, permissions: { features: { api_keys: true } } })
      .execute();
    await app.db
      .insertInto("group_member")
      .values({ group_id: "g1", user_id: user.id, created_at: now })
      .execute();
    await app.deps.changes.announce({ userId: user.id });
    const caller = await show(token);
    expect(caller).toMatchObject({ role: "user", name: "Renamed", groupIds: ["g1"] });
    expect(caller.permissions["features"]?.["api_keys"]).toBe(true);
  });

  it("ends on every replica when it is signed out, and no other session with it", async () => {
    const other = await app.replica();
    const { id } = await storeUser(app.db);
    const [token, kept] = [await signIn(id), await signIn(id)];
    const caller = await show(token);
    await show(token, other);
    const heard = new Promise<void>((resolve) => other.deps.changes.onChange(() => resolve()));
    await createSignOut(app.deps)(caller.session ?? { id: "", expiresAt: null }, id);
    expect(await refusal(token)).toBe("unauthenticated");
    await heard;
    expect(await refusal(token, other)).toBe("unauthenticated");
    expect(await refusal(kept, other)).toBeUndefined();
  });

  it("ends on other replicas with the commit alone, even when nobody announces it", async () => {
    const other = await app.replica();
    const { id } = await storeUser(app.db);
    const token = await signIn(id);
    await show(token, other);
    const heard = new Promise<void>((resolve) => other.deps.changes.onChange(() => resolve()));
    await app.deps.transaction(async (tx) => await bumpSessionStamp(tx, id));
    await heard;
    expect(await refusal(token, other)).toBe("unauthenticated");
  });

  it("is not kept when a change arrives while it is being read", async () => {
    const { id } = await storeUser(app.db);
    const token = await signIn(id);
    const reading = show(token).catch(() => undefined);
    await bumpSessionStamp(app.db, id);
    await app.deps.changes.announce({ userId: id });
    await reading;
    expect(await refusal(token)).toBe("unauthenticated");
  });
});

describe("a key", () => {
  it("acts as its owner", async () => {
    const { key, userId } = await makeKey();
    expect(await show(key)).toMatchObject({ userId, role: "admin", credential: "api_key", session: null });
  });

  it.each([
    ["unknown", `sk-${randomBytes(32).toString("hex")}`],
    ["too short", "sk-1"],
    ["enormous", `sk-${"a".repeat(100_000)}`],
  ])("is refused when it is %s", async (_name, key) => {
    expect(await refusal(key)).toBe("unauthenticated");
  });

  it("is forbidden where it is a gateway's, which is good there alone (S111)", async () => {
    expect(await refusal(`sk-gw-${randomBytes(32).toString("hex")}`)).toBe("forbidden");
  });

  it("is refused after it was replaced or deleted, or its owner switched off", async () => {
    const keys = createApiKeys(app.deps);
    const user = await storeUser(app.db, "admin");
    const first = (await keys.create(toCaller(user))).api_key;
    await show(first);
    const second = (await keys.create(toCaller(user))).api_key;
    expect(await refusal(first)).toBe("unauthenticated");
    expect(await refusal(second)).toBeUndefined();
    await keys.remove(toCaller(user));
    expect(await refusal(second)).toBe("unauthenticated");
    const third = (await keys.create(toCaller(user))).api_key;
    await show(third);
    await setActive(app.db, user.id, false);
    await app.deps.changes.announce({ userId: user.id });
    expect(await refusal(third)).toBe("unauthenticated");
  });

  it("is forbidden to an owner without the permission, and to everybody while keys are off", async () => {
    const { key } = await makeKey("user");
    expect(await refusal(key)).toBe("forbidden");
    const off = await app.replica({ ENABLE_API_KEYS: "false" });
    const { key: adminKey } = await makeKey();
    expect(await refusal(adminKey, off)).toBe("forbidden");
  });

  it("is forbidden beyond the allowed endpoints, also when it is known; sessions are not", async () => {
    const env = {
      ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: "true",
      API_KEYS_ALLOWED_ENDPOINTS: "/api/models, /api/v1/files/",
    };
    const restricted = await app.replica(env);
    const { key, userId } = await makeKey();
    expect(await refusal(key, restricted, "/api/models")).toBeUndefined();
    expect(await refusal(key, restricted, "/api/v1/files/1/content")).toBeUndefined();
    expect(await refusal(key, restricted, "/api/v1/users")).toBe("forbidden");
    expect(await refusal(await signIn(userId), restricted, "/api/v1/users")).toBeUndefined();
  });
});

it("notes who is active off the path, at most once a minute", async () => {
  const user = await storeUser(app.db);
  const token = await signIn(user.id);
  await app.db.updateTable("user").set({ last_active_at: 5 }).where("id", "=", user.id).execute();
  const seen = async () =>
    (
      await app.db
        .selectFrom("user")
        .select("last_active_at")
        .where("id", "=", user.id)
        .executeTakeFirstOrThrow()
    ).last_active_at;
  await app.authenticator.authenticate({ value: token, source: "bearer" }, { ...request, isSilent: true });
  await app.lastSeen.flush();
  expect(await seen()).toBe(5);
  await show(token);
  expect(await seen()).toBe(5);
  await app.lastSeen.flush();
  expect(await seen()).toBeGreaterThan(1_700_000_000);
  await app.db.updateTable("user").set({ last_active_at: 5 }).where("id", "=", user.id).execute();
  await show(token);
  await app.lastSeen.flush();
  expect(await seen()).toBe(5);
});
