import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { channelClient } from "#plugins/channels/channels.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { type Receiver, startReceiver } from "#test/support/receiver.ts";

describe.skipIf(!chromiumPath).each(["desk", "phone"] as const)("apps on a %s", (size) => {
  let app: App;
  let admin: TestUser;
  let browser: Browser;
  let opened: Awaited<ReturnType<typeof openPage>>;
  let page: Page;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
    await buildInterface();
    app = await startApp({
      env: { ENABLE_CHANNELS: "true", ENABLE_APPS: "true", APP_ALLOWED_PRIVATE_ORIGINS: receiver.url },
    });
    admin = await app.admin();
    browser = await openBrowser();
    opened = await openPage(browser, { url: app.url, token: admin.token, path: "/admin/apps", size });
    ({ page } = opened);
  });
  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
    await receiver?.close();
  });

  it("are registered, tested, and added to a channel, where they are marked", async () => {
    await page.getByText("There is no app yet.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Register an app" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Ferry");
    await dialog.getByLabel("Address for events").fill(`${receiver.url}/ferry`);
    await dialog.getByLabel("app.mentioned").check();
    await expectNoAxeFindings(page);
    await dialog.getByRole("button", { name: "Register", exact: true }).click();
    await page.getByText("Copy them now").waitFor();
    const key = (await page.getByText(/^sk-app-[0-9a-f]{64}$/).textContent()) ?? "";
    await page.getByRole("button", { name: "Actions for “Ferry”" }).click();
    await page.getByRole("menuitem", { name: "Send a test" }).click();
    await page.getByText("The test has arrived.").waitFor();
    expect(receiver.received.map(({ body }) => body.event)).toEqual(["app.test"]);
    await expectNoAxeFindings(page);

    const boss = channelClient(app, admin);
    const channel = await boss.make({ name: "harbour", type: "group", user_ids: [] });
    await page.goto(`${app.url}/channels/${channel}`);
    await page.getByRole("button", { name: "Members and settings" }).click();
    await page.getByRole("tab", { name: "Apps" }).click();
    await page.getByRole("button", { name: "Add Ferry" }).click();
    await page.getByRole("list", { name: "Apps of this channel" }).getByText("Ferry").waitFor();
    await expectNoAxeFindings(page);
    const posted = await app.call(`POST /api/v1/channels/${channel}/messages/post`, {
      token: key,
      body: { content: "The boat leaves at nine." },
    });
    expect(posted.status).toBe(200);
    await page.keyboard.press("Escape");
    const message = page.getByRole("article").filter({ hasText: "The boat leaves at nine." });
    await message.getByText("App", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
  });
});
