import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestAccounts, storeUser, type TestAccounts } from "../accounts.fixture.ts";
import accountsPlugin, { createAccountsPlugin } from "../plugin.ts";
import { authenticate, from, storePerson, toSession } from "../sign-in/sign-in.fixture.ts";
import { createSignIn } from "../sign-in/sign-in.ts";
import { findSignIn, setActive } from "../users/users-store.ts";
import { resetPassword } from "./reset-command.ts";

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

describe("resetting from the command line", () => {
  it("prints a password that works, and ends every session", async () => {
    const user = await storePerson(app, "forgotten");
    const signIn = createSignIn(app.deps)({ email: user.email, password: "forgotten" }, from());
    const { signed } = toSession(await signIn);
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    await resetPassword({
      db: app.db,
      email: user.email.toUpperCase(),
      hash: app.deps.passwords.hash,
      print,
    });
    const password = /New password: (\S+)/.exec(lines.join("\n"))?.[1] ?? "";
    expect(password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z0-9]).{20,}$/);
    await createSignIn(app.deps)({ email: user.email, password }, from());
    await expect(authenticate(app, signed.token)).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("takes a given password without printing it, and switches the account on again", async () => {
    const user = await storePerson(app, "forgotten");
    await setActive(app.db, user.id, false);
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    await resetPassword({
      db: app.db,
      email: user.email,
      password: "chosen one",
      hash: app.deps.passwords.hash,
      print,
    });
    expect(lines.join("\n")).not.toContain("chosen one");
    await createSignIn(app.deps)({ email: user.email, password: "chosen one" }, from());
  });

  it("names an address that does not exist", async () => {
    const reset = resetPassword({
      db: app.db,
      email: "no@example.org",
      hash: app.deps.passwords.hash,
      print() {},
    });
    await expect(reset).rejects.toThrow("no@example.org");
  });
});
