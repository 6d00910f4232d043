import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { client, startProvider, type TestProvider } from "../provider.fixture.ts";

let app: App;
let provider: TestProvider;
let browser: Browser;
let admin: string;

describe.skipIf(chromiumPath === undefined)("sign-in through a provider", () => {
  beforeAll(async () => {
    await buildInterface();
    const env = { ENABLE_OAUTH_PERSISTENT_CONFIG: "true", DEFAULT_USER_ROLE: "user" };
    [app, browser] = await Promise.all([startApp({ env }), openBrowser()]);
    provider = await startProvider(app.url);
    provider.accounts.set("ada", {
      sub: "ada",
      email: "ada@mill.test",
      email_verified: true,
      name: "Ada Miller",
    });
    ({ token: admin } = await app.admin());
    await app.call("POST /api/v1/auths/admin/config", { token: admin, body: { WEBUI_URL: app.url } });
    await configure({
      OPENID_PROVIDER_URL: `${provider.issuer}/.well-known/openid-configuration`,
      OAUTH_CLIENT_ID: client.id,
      OAUTH_CLIENT_SECRET: client.secret,
      OAUTH_PROVIDER_NAME: "Mill ID",
    });
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await provider?.close();
  });

  const configure = (body: Record<string, unknown>) =>
    app.call("POST /api/v1/auths/admin/config/oauth", { token: admin, body });

  async function signInThere(page: Page, name: string): Promise<void> {
    await page.getByRole("heading", { name: "Mill ID" }).waitFor();
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  test("an administrator tests a login, and sees claims and rules", async () => {
    const opened = await openPage(browser, { url: app.url, token: admin, path: "/admin/sign-in" });
    const { page } = opened;
    await page.getByText("answers", { exact: true }).waitFor();
    await page.getByText(`${app.url}/oauth/oidc/login/callback`).waitFor();
    await page.getByRole("button", { name: "Test this login" }).click();
    await signInThere(page, "ada");
    await page.getByText("There is no account, and ENABLE_OAUTH_SIGNUP is off.").waitFor();
    await page.getByText("email = ada@mill.test (verified)").waitFor();
    await page.getByText("Answer of the provider").click();
    await page.getByText('"sub": "ada"').waitFor();
    await expectNoAxeFindings(page);
    expect((await app.call("GET /api/v1/users?query=ada", { token: admin })).body.total).toBe(0);
    // The provider is another host: people are led there, and come back.
    const own = opened.problems.filter((problem) => !problem.includes(provider.issuer));
    opened.problems.splice(0, opened.problems.length, ...own);
    await opened.close();
  });

  test("a person is told why it failed, then comes in, goes out, and is led back by itself", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${app.url}/auth`);
    await page.getByRole("button", { name: "Continue with Mill ID" }).click();
    await signInThere(page, "ada");
    await page.getByText("There is no account for you here yet.").waitFor();
    await expectNoAxeFindings(page);
    await configure({ ENABLE_OAUTH_SIGNUP: true });
    await page.getByRole("button", { name: "Continue with Mill ID" }).click();
    await page.waitForURL((url) => url.origin === app.url && url.pathname !== "/auth");
    await expect
      .poll(async () => (await context.cookies(app.url)).find(({ name }) => name === "token")?.httpOnly)
      .toBe(true);
    await page.goto(`${app.url}/settings/connected-accounts`);
    await page.getByText("Mill ID").waitFor();
    await configure({ OAUTH_AUTO_REDIRECT: true });
    const visitor = await (await browser.newContext()).newPage();
    await visitor.goto(`${app.url}/auth`);
    await visitor.getByRole("heading", { name: "Mill ID" }).waitFor();
    await visitor.context().close();
    await context.close();
  });
});
