import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { json } from "#test/support/upstream-scripts.ts";

const password = "Grinding-stones-1";
describeInterface("the shell", ({ setUp, openPage }) => {
  let app: App;
  let upstream: Upstream;

  setUp(async (keep) => {
    upstream = await keep(startUpstream());
    upstream.models = ["miller-large", "miller-small"];
    app = await keep(startApp({ env: { DEFAULT_USER_ROLE: "pending", ENABLE_SIGNUP: "true" } }));
  });

  const signIn = async (email: string) =>
    (await app.call("POST /api/v1/auths/signin", { body: { email, password } })).body.token as string;

  test("the first account becomes the administrator and connects a model", async () => {
    const dark = await openPage({ url: app.url, theme: "dark", size: "phone" });
    await dark.page.getByRole("heading", { name: "Create the first account" }).waitFor();
    await expectNoAxeFindings(dark.page);
    await dark.close();

    const { page, close } = await openPage({ url: app.url });
    await page.getByRole("heading", { name: "Create the first account" }).waitFor();
    await expectNoAxeFindings(page);
    await write(page.getByLabel("Name"), "Ada Miller");
    await write(page.getByLabel("E-mail"), "ada@mill.example");
    await write(page.getByLabel("Password"), "short");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("Use at least 8 characters.").waitFor();
    await write(page.getByLabel("Password"), password);
    await page.getByRole("button", { name: "Create account" }).click();

    await page.getByRole("heading", { name: "Connect a model" }).waitFor();
    await write(page.getByLabel("Base URL"), upstream.url);
    await write(page.getByLabel("API key"), "key");
    upstream.reply("/models", json({ error: { message: "no" } }, { status: 401 }));
    await page.getByRole("button", { name: "Test connection" }).click();
    await page.getByText("The provider refused with status 401: no").waitFor();
    await page.getByRole("button", { name: "Test connection" }).click();
    await page.getByText("2 models found").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Save and start" }).click();
    await page.getByRole("navigation", { name: "Sidebar" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await close();

    const token = await signIn("ada@mill.example");
    expect((await app.call("GET /compat/config", { token })).body).toMatchObject({
      OPENAI_API_BASE_URLS: [upstream.url],
      OPENAI_API_CONFIGS: { 0: { access: "everyone" } },
    });
  });

  test("the next account waits until it is let in", async () => {
    const { page } = await openPage({ url: app.url, path: "/auth?redirect=//evil.example" });
    await write(page.getByLabel("E-mail"), "ada@mill.example");
    await write(page.getByLabel("Password"), "not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await page.getByRole("button", { name: "No account yet? Create one" }).click();
    await write(page.getByLabel("Name"), "Ben");
    await write(page.getByLabel("E-mail"), "ben@mill.example");
    await write(page.getByLabel("Password"), password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Your account waits for activation" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await expectNoAxeFindings(page);

    const token = await signIn("ada@mill.example");
    const { body } = await app.call("GET /api/v1/users/", { token });
    const ben = body.users.find(({ email }: { email: string }) => email === "ben@mill.example");
    const { name, email, profile_image_url } = ben;
    const update = await app.call(`POST /api/v1/users/${ben.id}/update`, {
      token,
      body: { role: "user", name, email, profile_image_url },
    });
    expect(update.status).toBe(200);
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByText("Your account is active now.").waitFor();
    expect(await page.getByLabel("E-mail").inputValue()).toBe(email);
    await write(page.getByLabel("Password"), password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("navigation", { name: "Sidebar" }).waitFor();
  });

  test("the palette and the help are reached by keyboard, and an unknown address says so", async () => {
    const token = await signIn("ada@mill.example");
    const { page } = await openPage({ url: app.url, token, path: "/nowhere" });
    await page.getByText("There is nothing at this address.").waitFor();

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Search and commands").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search and commands" });
    await write(field, "settings");
    await page.getByRole("option").nth(1).waitFor();
    await expectNoAxeFindings(page, '[role="dialog"]');
    const first = await page.getByRole("option", { selected: true }).innerText();
    await page.keyboard.press("ArrowDown");
    const second = page.getByRole("option", { selected: true });
    expect(await second.innerText()).not.toBe(first);
    await write(field, "interface");
    await page.getByRole("option", { name: "Interface" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/settings/interface");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});
