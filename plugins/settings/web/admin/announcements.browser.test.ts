import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

// Configuration document, WEBUI_BANNERS, ENABLE_EASTER_EGGS; the page of health shows build and license.

const stated = {
  id: "stated",
  type: "warning",
  title: "",
  content: "Down on **Sunday**",
  dismissible: false,
  timestamp: 1,
};

let app: App;
let plain: App;
let admin: TestUser;
let page: Page;

describeInterface("what operators put in", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    const env = {
      WEBUI_BANNERS: JSON.stringify([stated]),
      LICENSE_KEY: "some-key-1234",
      WEBUI_BUILD_HASH: "4f2a9c1",
    };
    [app, plain] = await Promise.all([
      keep(startApp({ env })),
      keep(startApp({ env: { ENABLE_EASTER_EGGS: "false" } })),
    ]);
    admin = await app.admin();
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token: admin.token, path: "/admin/announcements" }));
  });

  const shown = (of: Page) => of.getByRole("region", { name: "Announcements", exact: true });
  const stored = async () => (await app.call("GET /api/v1/configs/banners", { token: admin.token })).body;

  test("announcements are written with a preview, and everybody sees them", async () => {
    const first = page.getByRole("region", { name: "Announcement 1" });
    await first.getByText("Sunday").last().waitFor();
    await page.getByRole("button", { name: "Add an announcement" }).click();
    const second = page.getByRole("region", { name: "Announcement 2" });
    const save = page.getByRole("button", { name: "Save" });
    // The caret stands in the text, which is not wrong before it was written.
    await expect.poll(() => second.locator("textarea:focus").count()).toBe(1);
    expect(await second.locator("[aria-invalid=true]").count()).toBe(0);
    await save.click();
    await second.getByText("A text is needed.").waitFor();
    await write(second.getByRole("textbox", { name: "Title" }), "News");
    await write(second.getByRole("textbox", { name: "Text" }), "See [there](https://example.org).");
    await second.getByRole("link", { name: "there" }).waitFor();
    await expectNoAxeFindings(page);
    await second.getByRole("button", { name: "Up" }).click();
    await save.click();
    await shown(page).getByText("News").waitFor();
    expect((await stored()).map(({ content }: { content: string }) => content)).toEqual([
      "See [there](https://example.org).",
      stated.content,
    ]);
  });

  test("a dismissed one stays away until it says something else", async () => {
    const member = await app.user();
    const own = await openPage({ url: app.url, token: member.token, path: "/settings/about" });
    try {
      await shown(own.page).getByText("News").waitFor();
      // One that may not be dismissed has no way to do it.
      expect(await shown(own.page).getByRole("button", { name: "Dismiss" }).count()).toBe(1);
      await shown(own.page).getByRole("button", { name: "Dismiss" }).click();
      await own.page.reload();
      await shown(own.page).getByText("Sunday").waitFor();
      expect(await shown(own.page).getByText("News").count()).toBe(0);
      await write(
        page.getByRole("region", { name: "Announcement 1" }).getByRole("textbox", { name: "Title" }),
        "More",
      );
      await page.getByRole("button", { name: "Save" }).click();
      await shown(page).getByText("More").waitFor();
      await own.page.reload();
      await shown(own.page).getByText("More").waitFor();
    } finally {
      await own.close();
    }
  });

  test("two windows that each add one keep both", async () => {
    const other = await openPage({ url: app.url, token: admin.token, path: "/admin/announcements" });
    for (const [at, text] of [
      [page, "From one window"],
      [other.page, "From another"],
    ] as const) {
      await at.getByRole("region", { name: "Announcement 1" }).waitFor();
      await at.getByRole("button", { name: "Add an announcement" }).click();
      await expect.poll(() => at.locator("textarea:focus").count()).toBe(1);
      await at.keyboard.type(text);
    }
    for (const at of [page, other.page]) {
      await at.getByRole("button", { name: "Save" }).click();
      await at.getByText("Everybody sees this now.").waitFor();
    }
    expect((await stored()).map(({ content }: { content: string }) => content).slice(-2)).toEqual([
      "From one window",
      "From another",
    ]);
    // What both change is told to the second one before it replaces it.
    await page.reload();
    for (const at of [page, other.page]) {
      const last = at.getByRole("region", { name: /^Announcement \d/ }).last();
      await write(last.getByRole("textbox", { name: "Text" }), "From both");
      await write(last.getByRole("textbox", { name: "Title" }), at === page ? "First" : "Second");
      await at.getByRole("button", { name: "Save" }).click();
    }
    await other.page.getByText("Somebody changed this meanwhile. Save again to replace it.").waitFor();
  });

  test("the wheel turns where novelties are on, and stands still where they are off", async () => {
    await page.goto(`${app.url}/settings/about`);
    const wheel = page.getByRole("button", { name: "Turn the wheel" });
    for (let turn = 0; turn < 5; turn += 1) {
      await wheel.click();
    }
    await page.getByText("The mill has ground 5 sacks of flour.").waitFor();
    const { token } = await plain.admin();
    const still = await openPage({ url: plain.url, token, path: "/settings/about" });
    await still.page.getByRole("heading", { level: 1, name: "About" }).waitFor();
    await still.page.getByText("A chat platform that runs on its own server.").waitFor();
    expect(await still.page.getByRole("button", { name: "Turn the wheel" }).count()).toBe(0);
    await still.close();
  });

  test("the page of health shows the build, the device and the license inputs", async () => {
    await page.goto(`${app.url}/admin/health`);
    await page.getByText("4f2a9c1").waitFor();
    await page.getByText("…1234").waitFor();
    await page.getByText("Noted", { exact: true }).waitFor();
    expect(await page.content()).not.toContain("some-key");
    await expectNoAxeFindings(page);
  });
});
