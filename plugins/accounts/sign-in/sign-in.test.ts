import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secondsUntil } from "#test/support/clock/now.ts";
import { openTestAccounts, storeUser, type TestAccounts, toCaller, useUp } from "../accounts.fixture.ts";
import { createOwnAccount } from "./own-account.ts";
import { createSignIn } from "./sign-in.ts";
import { from, storePerson, toSession } from "./sign-in.fixture.ts";
import { findSignIn, setActive, setPassword } from "../users/users-store.ts";

let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts();
});
afterAll(() => app.close());

it("starts a session for the right password, whatever the case of the address", async () => {
  const user = await storePerson(app, "right password");
  const form = { email: ` ${user.email.toUpperCase()} `, password: "right password" };
  const { answer, signed } = toSession(await createSignIn(app.deps)(form, from()));
  expect(answer).toMatchObject({ id: user.id, token_type: "Bearer", email: user.email, token: signed.token });
  expect(secondsUntil(answer.expires_at ?? 0)).toBeGreaterThan(27 * 86_400);
  expect(answer.profile_image_url).toBe(`/api/v1/users/${user.id}/profile/image`);
});

it("refuses a wrong password, an unknown address and a deactivated account in the same words", async () => {
  const signIn = createSignIn(app.deps);
  const known = await storePerson(app, "right password");
  const gone = await storePerson(app, "right password");
  await setActive(app.db, gone.id, false);
  const forms = [
    { email: known.email, password: "wrong" },
    { email: "nobody@example.org", password: "right password" },
    { email: gone.email, password: "right password" },
    { email: "' or 1=1 --", password: "x" },
  ];
  const refusals = await Promise.all(
    forms.map((form) => signIn(form, from()).catch((error: Error) => error)),
  );
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({ code: "invalid" });
  }
  expect(new Set(refusals.map((refusal) => (refusal as Error).message)).size).toBe(1);
});

describe("guessing", () => {
  it("ends after 15 tries an account, also with the right password and from elsewhere", async () => {
    const signIn = createSignIn(app.deps);
    const user = await storePerson(app, "right password");
    for (let tried = 0; tried < 15; tried++) {
      await expect(signIn({ email: user.email, password: "wrong" }, from())).rejects.toMatchObject({
        code: "invalid",
      });
    }
    await expect(signIn({ email: user.email, password: "right password" }, from())).rejects.toMatchObject({
      code: "rate_limited",
    });
  });

  it("ends after 300 tries from an address, whatever the account", async () => {
    const signIn = createSignIn(app.deps);
    const address = from();
    await useUp(app.db, `address:${address}`, 299);
    const guess = { email: "guess@example.org", password: "x" };
    await expect(signIn(guess, address)).rejects.toMatchObject({ code: "invalid" });
    const user = await storePerson(app, "right password");
    await expect(signIn({ email: user.email, password: "right password" }, address)).rejects.toMatchObject({
      code: "rate_limited",
    });
    await signIn({ email: user.email, password: "right password" }, from());
  });

  it("is not taken for it when many people come at once through one address", async () => {
    const signIn = createSignIn(app.deps);
    const address = from();
    const people = await Promise.all(Array.from({ length: 20 }, () => storePerson(app, "right password")));
    await Promise.all(people.map(({ email }) => signIn({ email, password: "right password" }, address)));
  });

  it("does not count successful sign-ins", async () => {
    const signIn = createSignIn(app.deps);
    const user = await storePerson(app, "right password");
    const address = from();
    for (let round = 0; round < 20; round++) {
      await signIn({ email: user.email, password: "right password" }, address);
    }
  });
});

describe("a password that is changed while the old one is checked", () => {
  /** The account's password changes right after the old one was found to be right. */
  function changing(userId: string): TestAccounts["deps"] {
    const { passwords, transaction } = app.deps;
    const verify = async (password: string, stored: string | undefined) => {
      const matches = await passwords.verify(password, stored);
      await transaction(async (tx) => await setPassword(tx, userId, "the new hash"));
      return matches;
    };
    return { ...app.deps, passwords: { ...passwords, verify } };
  }

  it("starts no session", async () => {
    const { id, email } = await storePerson(app, "old password");
    const signIn = createSignIn(changing(id));
    await expect(signIn({ email, password: "old password" }, from())).rejects.toMatchObject({
      code: "invalid",
    });
  });

  it("stays the one that was chosen first", async () => {
    const user = await storePerson(app, "old password");
    const { updatePassword } = createOwnAccount(changing(user.id));
    const late = updatePassword(toCaller(user), { password: "old password", new_password: "later password" });
    await expect(late).rejects.toMatchObject({ code: "invalid" });
    expect((await findSignIn(app.db, { id: user.id }))?.passwordHash).toBe("the new hash");
  });
});

it("is forbidden while password sign-in is off", async () => {
  const off = await app.replica({ ENABLE_PASSWORD_AUTH: "false" });
  const user = await storePerson(app, "right password");
  await expect(
    createSignIn(off.deps)({ email: user.email, password: "right password" }, from()),
  ).rejects.toMatchObject({ code: "forbidden" });
});

describe("without accounts (WEBUI_AUTH=false)", () => {
  it("everybody is the same admin, also when many come first at once", async () => {
    const alone = await openTestAccounts({ WEBUI_AUTH: "false" });
    const signIn = createSignIn(alone.deps);
    const results = await Promise.all(
      Array.from({ length: 8 }, () => signIn({ email: "", password: "" }, from())),
    );
    const sessions = results.map(toSession);
    expect(new Set(sessions.map(({ answer }) => answer.id)).size).toBe(1);
    expect(sessions[0]?.answer).toMatchObject({ role: "admin", email: "admin@localhost" });
    // Once accounts are asked for, the well-known password does not open it.
    const later = await alone.replica({});
    const guess = createSignIn(later.deps)({ email: "admin@localhost", password: "admin" }, from());
    await expect(guess).rejects.toMatchObject({ code: "invalid" });
    await alone.close();
  });

  it("is refused where people have accounts", async () => {
    const open = await app.replica({ WEBUI_AUTH: "false" });
    await storeUser(app.db);
    await expect(createSignIn(open.deps)({ email: "", password: "" }, from())).rejects.toMatchObject({
      code: "invalid",
    });
  });
});
