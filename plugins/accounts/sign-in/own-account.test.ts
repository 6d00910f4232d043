import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestAccounts, type TestAccounts, toCaller } from "../accounts.fixture.ts";
import { findPicture } from "../users/users-store.ts";
import { createOwnAccount } from "./own-account.ts";
import { authenticate, from, storePerson, toSession } from "./sign-in.fixture.ts";
import { createSignIn } from "./sign-in.ts";
import { createSignUp } from "./sign-up.ts";

let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts();
});
afterAll(() => app.close());

describe("changing the password", () => {
  it("needs the present one, ends the other sessions and starts a new one", async () => {
    const own = createOwnAccount(app.deps);
    const user = await storePerson(app, "old password");
    const signIn = createSignIn(app.deps)({ email: user.email, password: "old password" }, from());
    const { signed } = toSession(await signIn);
    const show = (token: string) => authenticate(app, token);
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
    const caller = toCaller(await storePerson(app, "right password"));
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

describe("the own profile", () => {
  it("takes what is sent, keeps the picture when its address comes back, refuses script", async () => {
    const own = createOwnAccount(app.deps);
    const user = await storePerson(app, "any password");
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
    const caller = toCaller(await storePerson(app, "any password"));
    const change = createOwnAccount(app.deps).updateTimezone(caller, timezone);
    await (ok
      ? expect(change).resolves.toBeUndefined()
      : expect(change).rejects.toMatchObject({ code: "invalid" }));
  });
});

it("names the contact: the configured address, else the first admin, else nobody", async () => {
  const fresh = await openTestAccounts();
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
    await add(
      { ...form, name: "Other", email, role: "admin", change_password: false },
      toSession(boss).answer.id,
    );
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
