import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestAccounts, storeUser, type TestAccounts, toCaller } from "../accounts.fixture.ts";
import { createApiKeys } from "./api-keys.ts";

let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts();
});
afterAll(() => app.close());

it("shows a key once, masks it afterwards and stores no part that could be used", async () => {
  const keys = createApiKeys(app.deps);
  const caller = toCaller(await storeUser(app.db, "admin"));
  const { api_key: key } = await keys.create(caller);
  expect(key).toMatch(/^sk-[0-9a-f]{64}$/);
  const view = await keys.find(caller);
  expect(view.api_key).toBe(`sk-…${key.slice(-4)}`);
  expect(view.created_at).toBeGreaterThan(1_700_000_000);
  const row = await app.db
    .selectFrom("api_key")
    .selectAll()
    .where("user_id", "=", caller.userId)
    .executeTakeFirstOrThrow();
  expect(row.id).toBe(`key_${caller.userId}`);
  expect(JSON.stringify(row)).not.toContain(key.slice(3, 60));
});

it("leaves an account with one key, however many are made at once", async () => {
  const keys = createApiKeys(app.deps);
  const caller = toCaller(await storeUser(app.db, "admin"));
  await Promise.all(Array.from({ length: 5 }, () => keys.create(caller)));
  const rows = await app.db.selectFrom("api_key").select("id").where("user_id", "=", caller.userId).execute();
  expect(rows).toHaveLength(1);
});

it("says not found without a key, and true to deleting none", async () => {
  const keys = createApiKeys(app.deps);
  const caller = toCaller(await storeUser(app.db, "admin"));
  await expect(keys.find(caller)).rejects.toMatchObject({ code: "not_found" });
  expect(await keys.remove(caller)).toBe(true);
});

it("needs the permission of all but admins, and the switch of everybody", async () => {
  const user = toCaller(await storeUser(app.db));
  const allowed = { ...user, permissions: { features: { api_keys: true } } };
  const keys = createApiKeys(app.deps);
  for (const use of [keys.create, keys.find, keys.remove]) {
    await expect(use(user)).rejects.toMatchObject({ code: "forbidden" });
  }
  await keys.create(allowed);
  const off = createApiKeys((await app.replica({ ENABLE_API_KEYS: "false" })).deps);
  const admin = toCaller(await storeUser(app.db, "admin"));
  for (const use of [off.create, off.find, off.remove]) {
    await expect(use(admin)).rejects.toMatchObject({ code: "forbidden" });
  }
});

it("announces what happened without the key", async () => {
  const keys = createApiKeys(app.deps);
  const caller = toCaller(await storeUser(app.db, "admin"));
  const { api_key: key } = await keys.create(caller);
  await keys.remove(caller);
  const own = app.emitted.filter(({ data }) => data["user_id"] === caller.userId);
  expect(own.map(({ event }) => event)).toEqual(["auth.api_key.created", "auth.api_key.deleted"]);
  expect(JSON.stringify(own)).not.toContain(key);
});
