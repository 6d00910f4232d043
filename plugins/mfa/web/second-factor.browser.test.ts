import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { openCodeApp, openSteps, password } from "../mfa.fixture.ts";

let app: App;
/** One for each try: who has a passkey is not asked to make one. */
const members: TestUser[] = [];
/** Passkeys belong to names of hosts: the same server, by its name. */
let url: string;

/** An authenticator of the browser that says yes by itself. */
async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
}

async function giveEmail(page: Page, email: string): Promise<void> {
  await write(page.getByLabel("E-mail"), email);
  await write(page.getByLabel("Password", { exact: true }), password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

describeInterface("the second factor in a browser", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startApp());
    members.push(await app.user(), await app.user());
    url = app.url.replace("127.0.0.1", "localhost");
  });

  test("an administrator switches it on and sets a code app up at the next sign-in", async () => {
    const { token, email } = await app.admin();
    const { page } = await openPage({ url, token, path: "/admin/second-factor" });
    await page.getByRole("switch", { name: "Ask for a second factor" }).click();
    await page.getByText("3 accounts have to have one, and are signed out now.").waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    await giveEmail(page, email);
    await page.getByRole("img", { name: "QR code" }).waitFor();
    await expectNoAxeFindings(page);
    const key = (await page.getByLabel("Key", { exact: true }).textContent()) ?? "";
    await write(page.getByLabel("Code that the app shows"), "000000");
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("The code is not right.").waitFor();
    await write(page.getByLabel("Code that the app shows"), openCodeApp(key.replaceAll(" ", "")).code());
    await page.getByRole("button", { name: "Confirm" }).click();
    const codes = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await expect.poll(() => codes.count(), { timeout: 10_000 }).toBe(10);
    await page.getByRole("button", { name: "I saved them" }).click();
    await page.getByText("1 of 3 accounts have a second factor.").waitFor();
    await page.getByText("asked at the next sign-in").first().waitFor();
    await expectNoAxeFindings(page);
  });

  test("a person makes a passkey at sign-in, signs in with it as the second step and alone, and manages factors", async () => {
    const member = members.pop() as TestUser;
    const { page, context } = await openPage({ url, path: "/auth", size: "phone" });
    await addAuthenticator(context, page);
    await giveEmail(page, member.email);
    await page.getByRole("button", { name: "Use a passkey instead" }).click();
    await page.getByRole("button", { name: "I saved them" }).click();
    await page.getByText("How can I help").waitFor();

    await page.goto(`${url}/settings/security`);
    await page.getByRole("button", { name: "Rename Passkey" }).click();
    await write(page.getByLabel("Name of the passkey"), "Phone");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Rename Phone" }).waitFor();
    await expectNoAxeFindings(page);
    // The last factor of who has to have one stays.
    await page.getByRole("button", { name: "Remove Phone" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Set another one up first.").waitFor();
    await page.keyboard.press("Escape");
    await app.running.database.db
      .updateTable("account_session" as never)
      .set({ factor_at: 0 } as never)
      .execute();
    await page.getByRole("button", { name: "Set up a code app" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("img", { name: "QR code" }).waitFor();
    const key = (await page.getByLabel("Key", { exact: true }).textContent()) ?? "";
    await write(page.getByLabel("Code that the app shows"), openCodeApp(key.replaceAll(" ", "")).code());
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("list", { name: "Recovery codes" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Close without keeping it?").waitFor();
    await page.getByRole("button", { name: "Go back" }).click();
    await page.getByRole("button", { name: "I saved them" }).click();
    await page.getByRole("button", { name: "Replace" }).waitFor();

    // A page that is still open could be given another cookie, or give up its own when it hears that it is signed out.
    const leave = async () => {
      await page.goto("about:blank");
      await context.clearCookies();
    };
    // This authenticator takes at once what the browser suggests in the field of the address.
    await leave();
    await page.goto(`${url}/auth`);
    await page.getByText("How can I help").waitFor();

    await leave();
    await page.addInitScript(() => {
      if (isSecureContext) {
        PublicKeyCredential.isConditionalMediationAvailable = async () => false;
      }
    });
    await page.goto(`${url}/auth`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByText("How can I help").waitFor();

    await leave();
    const { body } = await openSteps(app).signIn(member.email);
    expect(body.methods).toEqual(["totp", "passkey", "recovery_code"]);
    // As after the redirects of an identity provider: the step is known by its cookie alone.
    await context.addCookies([{ name: "sign_in_step", value: body.challenge_token, url, httpOnly: true }]);
    await page.goto(`${url}/auth`);
    await page.getByRole("button", { name: "Use a recovery code" }).click();
    await write(page.getByLabel("Recovery code"), "0".repeat(32));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("The code is not right").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("How can I help").waitFor();
  });
});
