import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestAccounts, storeUser, type TestAccounts, toCaller, useUp } from "../accounts.fixture.ts";
import { createOwnAccount } from "./own-account.ts";
import { resetPassword } from "../passwords/reset-command.ts";
import { createSignIn } from "./sign-in.ts";
import { createSignUp } from "./sign-up.ts";
import { createUser, findPicture, findSignIn, setActive, setPassword } from "../users/users-store.ts";

const environment = { PASSWORD_HASH_ALGORITHM: "argon2" };
let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts(environment);
});
afterAll(() => app.close());

let count = 0;
async function store(password: string) {
  const passwordHash = await app.deps.passwords.hash(password);
  const user = await createUser(app.db, {
    email: `in${++count}@example.org`,
    name: "In",
    role: "user",
    passwordHash,
  });
  if (user === undefined) {
    throw new Error("the address is taken");
  }
  return user;
}

const from = () => `10.0.0.${++count}`;

it("starts a session for the right password, whatever the case of the address", async () => {
  const user = await store("right password");
  const { answer, signed } = await createSignIn(app.deps)(
    { email: ` ${user.email.toUpperCase()} `, password: "right password" },
    from(),
  );
  expect(answer).toMatchObject({ id: user.id, token_type: "Bearer", email: user.email, token: signed.token });
  expect(answer.expires_at).toBeGreaterThan(Date.now() / 1000 + 27 * 86_400);
  expect(answer.profile_image_url).toBe(`/api/v1/users/${user.id}/profile/image`);
});

it("refuses a wrong password, an unknown address and a deactivated account in the same words", async () => {
  const signIn = createSignIn(app.deps);
  const known = await store("right password");
  const gone = await store("right password");
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
    const user = await store("right password");
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
    const user = await store("right password");
    await expect(signIn({ email: user.email, password: "right password" }, address)).rejects.toMatchObject({
      code: "rate_limited",
    });
    await signIn({ email: user.email, password: "right password" }, from());
  });

  it("is not taken for it when many people come at once through one address", async () => {
    const signIn = createSignIn(app.deps);
    const address = from();
    const people = await Promise.all(Array.from({ length: 20 }, () => store("right password")));
    await Promise.all(people.map(({ email }) => signIn({ email, password: "right password" }, address)));
  });

  it("does not count successful sign-ins", async () => {
    const signIn = createSignIn(app.deps);
    const user = await store("right password");
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
    const { id, email } = await store("old password");
    const signIn = createSignIn(changing(id));
    await expect(signIn({ email, password: "old password" }, from())).rejects.toMatchObject({
      code: "invalid",
    });
  });

  it("stays the one that was chosen first", async () => {
    const user = await store("old password");
    const { updatePassword } = createOwnAccount(changing(user.id));
    const late = updatePassword(toCaller(user), { password: "old password", new_password: "later password" });
    await expect(late).rejects.toMatchObject({ code: "invalid" });
    expect((await findSignIn(app.db, { id: user.id }))?.passwordHash).toBe("the new hash");
  });
});

it("is forbidden while password sign-in is off", async () => {
  const off = await app.replica({ ...environment, ENABLE_PASSWORD_AUTH: "false" });
  const user = await store("right password");
  await expect(
    createSignIn(off.deps)({ email: user.email, password: "right password" }, from()),
  ).rejects.toMatchObject({ code: "forbidden" });
});

describe("without accounts (WEBUI_AUTH=false)", () => {
  it("everybody is the same admin, also when many come first at once", async () => {
    const alone = await openTestAccounts({ ...environment, WEBUI_AUTH: "false" });
    const signIn = createSignIn(alone.deps);
    const sessions = await Promise.all(
      Array.from({ length: 8 }, () => signIn({ email: "", password: "" }, from())),
    );
    expect(new Set(sessions.map(({ answer }) => answer.id)).size).toBe(1);
    expect(sessions[0]?.answer).toMatchObject({ role: "admin", email: "admin@localhost" });
    // Once accounts are asked for, the well-known password does not open it.
    const later = await alone.replica(environment);
    const guess = createSignIn(later.deps)({ email: "admin@localhost", password: "admin" }, from());
    await expect(guess).rejects.toMatchObject({ code: "invalid" });
    await alone.close();
  });

  it("is refused where people have accounts", async () => {
    const open = await app.replica({ ...environment, WEBUI_AUTH: "false" });
    await storeUser(app.db);
    await expect(createSignIn(open.deps)({ email: "", password: "" }, from())).rejects.toMatchObject({
      code: "invalid",
    });
  });
});

describe("changing the password", () => {
  it("needs the present one, ends the other sessions and starts a new one", async () => {
    const own = createOwnAccount(app.deps);
    const user = await store("old password");
    const { signed } = await createSignIn(app.deps)({ email: user.email, password: "old password" }, from());
    const show = async (value: string) =>
      await app.authenticator.authenticate(
        { value, source: "bearer" },
        { method: "GET", path: "/", address: "" },
      );
    const caller = await show(signed.token);
    const wrong = own.updatePassword(caller, { password: "not it", new_password: "new password" });
    await expect(wrong).rejects.toMatchObject({ code: "invalid" });
    await show(signed.token);
    const next = await own.updatePassword(caller, { password: "old password", new_password: "new password" });
    await expect(show(signed.token)).rejects.toMatchObject({ code: "unauthenticated" });
    expect((await show(next.signed.token)).userId).toBe(user.id);
    await createSignIn(app.deps)({ email: user.email, password: "new password" }, from());
    const old = createSignIn(app.deps)({ email: user.email, password: "old password" }, from());
    await expect(old).rejects.toMatchObject({ code: "invalid" });
  });

  it("is throttled like signing in", async () => {
    const own = createOwnAccount(app.deps);
    const caller = toCaller(await store("right password"));
    for (let tried = 0; tried < 15; tried++) {
      await expect(
        own.updatePassword(caller, { password: "wrong", new_password: "another password" }),
      ).rejects.toMatchObject({ code: "invalid" });
    }
    await expect(
      own.updatePassword(caller, { password: "right password", new_password: "another password" }),
    ).rejects.toMatchObject({
      code: "rate_limited",
    });
  });
});

describe("resetting from the command line", () => {
  it("prints a password that works, and ends every session", async () => {
    const user = await store("forgotten");
    const { signed } = await createSignIn(app.deps)({ email: user.email, password: "forgotten" }, from());
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
    const show = async () =>
      await app.authenticator.authenticate(
        { value: signed.token, source: "bearer" },
        { method: "GET", path: "/", address: "" },
      );
    await expect(show()).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("takes a given password without printing it, and switches the account on again", async () => {
    const user = await store("forgotten");
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

describe("the own profile", () => {
  it("takes what is sent, keeps the picture when its address comes back, refuses script", async () => {
    const own = createOwnAccount(app.deps);
    const user = await store("any password");
    const caller = toCaller(user);
    const image = `/api/v1/users/${user.id}/profile/image`;
    const row = await own.updateProfile(caller, { name: "New", profile_image_url: image, bio: "about me" });
    expect(row).toMatchObject({ name: "New", bio: "about me" });
    expect(await findPicture(app.db, user.id)).toBe("/user.png");
    const script = own.updateProfile(caller, { name: "New", profile_image_url: "javascript:alert(1)" });
    await expect(script).rejects.toMatchObject({ code: "invalid" });
  });

  it.each([
    ["Europe/Berlin", true],
    ["UTC", true],
    ["Mars/Olympus", false],
    ["", false],
    ["../../etc/passwd", false],
  ])("time zone %s: %s", async (timezone, ok) => {
    const caller = toCaller(await store("any password"));
    const change = createOwnAccount(app.deps).updateTimezone(caller, timezone);
    await (ok
      ? expect(change).resolves.toBeUndefined()
      : expect(change).rejects.toMatchObject({ code: "invalid" }));
  });
});

it("names the contact: the configured address, else the first admin, else nobody", async () => {
  const fresh = await openTestAccounts(environment);
  const { signUp, add } = createSignUp(fresh.deps);
  const form = {
    name: "Boss",
    email: "boss@example.org",
    password: "boss password",
    profile_image_url: "/user.png",
  };
  const boss = await signUp(form, from());
  // Most likely within the same second: the first account stays the first one all the same.
  for (const email of ["b@example.org", "c@example.org", "d@example.org"]) {
    await add({ ...form, name: "Other", email, role: "admin" }, boss.answer.id);
  }
  const contact = async (env: Record<string, string>) =>
    await createOwnAccount((await fresh.replica(env)).deps).contactAdmin();
  expect(await contact({})).toEqual({ name: "Boss", email: "boss@example.org" });
  expect(await contact({ ADMIN_EMAIL: "help@example.org" })).toEqual({
    name: null,
    email: "help@example.org",
  });
  await expect(contact({ SHOW_ADMIN_DETAILS: "false" })).rejects.toMatchObject({ code: "invalid" });
  await fresh.close();
});
