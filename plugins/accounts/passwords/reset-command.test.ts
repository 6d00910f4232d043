import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestAccounts, storeUser, type TestAccounts } from "../accounts.fixture.ts";
import accountsPlugin, { createAccountsPlugin } from "../plugin.ts";
import { findSignIn } from "../users/users-store.ts";

let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts({ PASSWORD_HASH_COST: "4", BCRYPT_COST: "4" });
});
afterAll(() => app.close());

async function resetWith(plugin: typeof accountsPlugin): Promise<string | undefined> {
  const user = await storeUser(app.db);
  const { config, db } = { config: app.deps.config, db: app.db };
  const options = { email: user.email, password: "Correct-horse-1" };
  await plugin.commands?.[0]?.run({ config, db, options, notify: async () => {}, print() {} });
  return (await findSignIn(app.db, { email: user.email }))?.passwordHash;
}

it("hashes at the product's cost, whatever the environment says", async () => {
  expect(await resetWith(accountsPlugin)).toMatch(/^\$2[aby]\$12\$/);
});

it("refuses a password shorter than 8 characters", async () => {
  const { email } = await storeUser(app.db);
  const options = { email, password: "1234567" };
  const context = { config: app.deps.config, db: app.db, options, notify: async () => {}, print() {} };
  await expect(accountsPlugin.commands?.[0]?.run(context)).rejects.toMatchObject({ code: "invalid" });
});

it("hashes at the cost that the test set-up creates the plugin with", async () => {
  expect(await resetWith(createAccountsPlugin({ hashCost: 4 }))).toMatch(/^\$2[aby]\$04\$/);
});
