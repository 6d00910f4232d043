import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type ChannelClient, channelClient } from "../channels.fixture.ts";

const slow = 400_000;
let stage: RunStage;
let browser: Browser;
let admin: ChannelClient;
let ann: ChannelClient;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    stage = await startRunStage({ env: { ENABLE_CHANNELS: "true" } });
    admin = channelClient(stage.app, stage.user);
    ann = channelClient(stage.app, await stage.app.user());
    browser = await openBrowser();
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

const field = (page: Page) => page.getByRole("textbox", { name: /^Message to/ });

test.skipIf(!chromiumPath)(
  "two people in one channel see each other's words, typing and edits, and a model as it writes",
  async () => {
    const id = await admin.make({ name: "Mill", type: "group", user_ids: [ann.user.id] });
    const path = `/channels/${id}`;
    const at = { url: stage.app.url, path };
    const mine = await openPage(browser, { ...at, token: admin.user.token });
    const theirs = await openPage(browser, { ...at, token: ann.user.token, size: "phone", theme: "dark" });
    await mine.page.getByText("Nothing said yet.").waitFor();
    await theirs.page.getByText("Nothing said yet.").waitFor();

    await field(mine.page).fill("Hello from the weir");
    await theirs.page.getByText(`${admin.user.name} is typing…`).waitFor();
    await field(mine.page).press("Enter");
    const message = theirs.page.getByRole("article").filter({ hasText: "Hello from the weir" });
    await message.waitFor();
    await message.getByRole("button", { name: "More about this message" }).click();
    await theirs.page.getByRole("menuitem", { name: "Pin" }).waitFor();
    await theirs.page.keyboard.press("Escape");

    const own = mine.page.getByRole("article").filter({ hasText: "Hello from the weir" });
    await own.hover();
    await own.getByRole("button", { name: "React", exact: true }).click();
    await mine.page.getByRole("button", { name: "React with 🎉" }).click();
    await theirs.page.getByRole("button", { name: "🎉, 1 times" }).waitFor();
    await own.getByRole("button", { name: "More about this message" }).click();
    await mine.page.getByRole("menuitem", { name: "Edit" }).click();
    await mine.page.getByRole("textbox", { name: "Edit the message" }).fill("Hello from the sluice");
    await mine.page.keyboard.press("Enter");
    await theirs.page.getByText("Hello from the sluice").waitFor();

    // A mentioned model answers in the thread, which both can follow.
    stage.upstream.reply(text("The wheel turns because the water falls. ".repeat(20), { every: 10 }));
    await field(mine.page).pressSequentially("@alp");
    await mine.page.getByRole("option", { name: /alpha/ }).waitFor();
    await mine.page.keyboard.press("Enter");
    await field(mine.page).pressSequentially("why does it turn?");
    await mine.page.keyboard.press("Enter");
    const replies = theirs.page.getByRole("button", { name: "1 reply" });
    await replies.click();
    await theirs.page.getByText(/The wheel turns because/).waitFor();
    await theirs.page.getByText("is writing…").waitFor({ state: "detached" });
    await expectNoAxeFindings(theirs.page);
    await mine.page.getByRole("button", { name: "1 reply" }).click();
    await mine.page
      .getByRole("log", { name: "Replies" })
      .getByText(/The wheel turns because/)
      .waitFor();
    await expectNoAxeFindings(mine.page);
    await mine.close();
    await theirs.close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "channels stand in the sidebar with what is unread; they are made, found in, and managed",
  async () => {
    const { page, close } = await openPage(browser, { url: stage.app.url, token: ann.user.token });
    const list = page.getByRole("region", { name: "Channels" });
    await list.getByRole("button", { name: "New channel" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Millers");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "millers" }).waitFor();
    const { id } = (await ann.call("GET /")).body.find(({ name }: { name: string }) => name === "millers");
    await ann.call(`POST /${id}/update/members/add`, { user_ids: [admin.user.id] });
    await admin.post(id, "First flour of the year");
    await page.getByText("First flour of the year").waitFor();

    await page.getByRole("button", { name: "Members and settings" }).click();
    await page.getByRole("tab", { name: "Webhooks" }).click();
    await page.getByLabel("Name of the webhook").fill("Build");
    await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
    await page.getByText("Not used yet").waitFor();
    await expectNoAxeFindings(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Search in this channel" }).click();
    await page.getByLabel("Words in messages").fill("flo");
    await page.getByRole("complementary").getByText("First flour of the year").waitFor();

    await list
      .getByRole("link", { name: /^mill$/ })
      .or(page.getByRole("link", { name: "New chat" }))
      .first()
      .click();
    await admin.post(id, "Second flour");
    await list.getByRole("link", { name: /millers.*1 unread/ }).click();
    await page.getByText("Second flour").waitFor();
    await expect.poll(() => list.getByRole("link", { name: /unread/ }).count()).toBe(0);
    await close();
  },
  slow,
);
