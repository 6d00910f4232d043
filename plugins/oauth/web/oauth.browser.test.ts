import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings, type OpenOptions } from "#test/support/interface.ts";
import { client, startProvider, type TestProvider } from "../provider.fixture.ts";

let app: App;
let provider: TestProvider;
let admin: string;
/** The provider is another host: people are led there, and come back. */
let there: Pick<OpenOptions, "url" | "otherOrigins">;

describeInterface("sign-in through a provider", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    const env = { ENABLE_OAUTH_PERSISTENT_CONFIG: "true", DEFAULT_USER_ROLE: "user" };
    app = await keep(startApp({ env }));
    provider = await keep(startProvider(app.url));
    there = { url: app.url, otherOrigins: [new URL(provider.issuer).origin] };
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
  });

  const configure = (body: Record<string, unknown>) =>
    app.call("POST /api/v1/auths/admin/config/oauth", { token: admin, body });

  async function signInThere(page: Page, name: string): Promise<void> {
    await page.getByRole("heading", { name: "Mill ID" }).waitFor();
    await write(page.getByLabel("Name"), name);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  test("an administrator tests a login, and sees claims and rules", async () => {
    const { page } = await openPage({ ...there, token: admin, path: "/admin/sign-in" });
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
  });

  test("a person is told why it failed, then comes in, goes out, and is led back by itself", async () => {
    const { page, context } = await openPage({ ...there, path: "/auth" });
    await page.getByRole("button", { name: "Continue with Mill ID" }).click();
    await signInThere(page, "ada");
    await page.getByText("There is no account for you here yet.").waitFor();
    await expectNoAxeFindings(page);
    await configure({ ENABLE_OAUTH_SIGNUP: true });
    await page.getByRole("button", { name: "Continue with Mill ID" }).click();
    // Another account can be chosen after a refusal.
    await signInThere(page, "ada");
    await page.waitForURL((url) => url.origin === app.url && url.pathname !== "/auth");
    await expect
      .poll(async () => (await context.cookies(app.url)).find(({ name }) => name === "token")?.httpOnly)
      .toBe(true);
    await page.goto(`${app.url}/settings/connected-accounts`);
    await page.getByText("Mill ID").waitFor();
    await configure({ OAUTH_AUTO_REDIRECT: true });
    const { page: visitor } = await openPage({ ...there, path: "/auth" });
    await visitor.getByRole("heading", { name: "Mill ID" }).waitFor();
  });
});
