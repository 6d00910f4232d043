import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { type, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type ChannelClient, channelClient } from "../channels.fixture.ts";

describeInterface("channels", ({ setUp, openPage }) => {
  let stage: RunStage;
  let admin: ChannelClient;
  let ann: ChannelClient;

  setUp(async (keep) => {
    stage = await keep(startRunStage({ env: { ENABLE_CHANNELS: "true" } }));
    admin = channelClient(stage.app, stage.user);
    ann = channelClient(stage.app, await stage.app.user());
  });

  const field = (page: Page) => page.getByRole("textbox", { name: /^Message to/ });

  test("two people in one channel see each other's words, typing and edits, and a model as it writes", async () => {
    const id = await admin.make({ name: "Mill", type: "group", user_ids: [ann.user.id] });
    const path = `/channels/${id}`;
    const at = { url: stage.app.url, path };
    const mine = await openPage({ ...at, token: admin.user.token });
    const theirs = await openPage({ ...at, token: ann.user.token, size: "phone", theme: "dark" });
    await mine.page.getByText("Nothing said yet.").waitFor();
    await theirs.page.getByText("Nothing said yet.").waitFor();

    await write(field(mine.page), "Hello from the weir");
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
    // The caret stands in the text: what is typed at once replaces it.
    await expect.poll(() => mine.page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
    await mine.page.keyboard.press("ControlOrMeta+a");
    await mine.page.keyboard.type("Hello from the sluice");
    await mine.page.keyboard.press("Enter");
    await theirs.page.getByText("Hello from the sluice").waitFor();

    // A mentioned model answers in the thread, which both can follow.
    stage.upstream.reply(text("The wheel turns because the water falls. ".repeat(20), { every: 10 }));
    await type(field(mine.page), "@alp");
    await mine.page.getByRole("option", { name: /alpha/ }).waitFor();
    await mine.page.keyboard.press("Enter");
    await type(field(mine.page), "why does it turn?");
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
  });

  test("a message that was not sent stays in the field, before what was typed since, and says why", async () => {
    const id = await admin.make({ name: "Weir", type: "group", user_ids: [ann.user.id] });
    const { page } = await openPage({
      url: stage.app.url,
      path: `/channels/${id}`,
      token: ann.user.token,
    });
    await page.getByText("Nothing said yet.").waitFor();
    await type(field(page), "@admi");
    await page.getByRole("option", { name: new RegExp(admin.user.name) }).click();
    await type(field(page), "the sluice is open");
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const { promise: typed, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/messages/post", async (route) => {
      send();
      await typed;
      await route.abort();
    });
    await page.keyboard.press("Enter");
    await sent;
    await page.keyboard.type("and the wheel turns");
    goOn();
    const reason = page.getByRole("alert").filter({ hasText: "The message was not sent" });
    await reason.waitFor();
    const shown = `@${admin.user.name} the sluice is open\nand the wheel turns`;
    expect(await field(page).inputValue()).toBe(shown);
    expect(await field(page).getAttribute("aria-invalid")).toBe("true");
    await expectNoAxeFindings(page);
    await page.unroute("**/messages/post");
    // The caret is in the field still.
    await page.keyboard.press("Enter");
    await page.getByRole("article").filter({ hasText: "and the wheel turns" }).waitFor();
    await reason.waitFor({ state: "detached" });
    const { body } = await ann.call(`GET /${id}/messages`);
    expect(body[0].content).toContain(`<@U:${admin.user.id}|`);
  });

  test("an administrator says who can see a channel before it is made", async () => {
    const { page } = await openPage({ url: stage.app.url, token: admin.user.token });
    await page.getByRole("region", { name: "Channels" }).getByRole("button", { name: "New channel" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Channel", { exact: true }).click();
    await write(dialog.getByLabel("Name", { exact: true }), "Harbour");
    const create = dialog.getByRole("button", { name: "Create", exact: true });
    expect(await create.isDisabled()).toBe(true);
    await dialog.getByText("Everyone", { exact: true }).click();
    await create.click();
    await page.getByRole("heading", { name: "harbour" }).waitFor();
    const { id, write_access: mayWrite } = (await ann.call("GET /")).body.find(
      ({ name }: { name: string }) => name === "harbour",
    );
    expect(mayWrite ?? (await ann.call(`GET /${id}`)).body.write_access).toBe(true);
  });

  test("channels stand in the sidebar with what is unread; they are made, found in, and managed", async () => {
    const { page } = await openPage({ url: stage.app.url, token: ann.user.token });
    const list = page.getByRole("region", { name: "Channels" });
    await list.getByRole("button", { name: "New channel" }).click();
    await write(page.getByLabel("Name", { exact: true }), "Millers");
    // The list of people floats: as it closes, the button stays where it is pressed.
    await page.getByRole("combobox", { name: "People" }).click();
    await page.getByRole("option").first().waitFor();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name: "millers" }).waitFor();
    const { id } = (await ann.call("GET /")).body.find(({ name }: { name: string }) => name === "millers");
    await ann.call(`POST /${id}/update/members/add`, { user_ids: [admin.user.id] });
    await admin.post(id, "First flour of the year");
    await page.getByText("First flour of the year").waitFor();

    await page.getByRole("button", { name: "Members and settings" }).click();
    await page.getByRole("tab", { name: "Webhooks" }).click();
    await write(page.getByLabel("Name of the webhook"), "Build");
    await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
    await page.getByText("Not used yet").waitFor();
    await expectNoAxeFindings(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Search in this channel" }).click();
    await write(page.getByLabel("Words in messages"), "flo");
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
  });

  test("a new channel takes what is typed at once", async () => {
    const { page } = await openPage({ url: stage.app.url, token: ann.user.token });
    for (const name of ["weir", "sluice"]) {
      await page.getByRole("button", { name: "New channel" }).click();
      await type(page.getByLabel("Name", { exact: true }), name);
      await page.keyboard.press("Enter");
      await expect
        .poll(() => field(page).and(page.locator(":focus")).getAttribute("aria-label"))
        .toContain(name);
      // A space would press the button that opened the dialog.
      await page.keyboard.type("hello there");
      expect(await field(page).inputValue()).toBe("hello there");
      expect(await page.getByRole("dialog").count()).toBe(0);
    }
  });

  test("a long channel shows a window of its messages, which goes back and forth with the reader", async () => {
    const id = await admin.make({ name: "Long", type: "group", user_ids: [ann.user.id] });
    // As posting so many one by one would take minutes.
    await stage.app.running.database.query(
      `insert into message (id, user_id, channel_id, content, created_at, updated_at)
       select 'long-' || at, $1, $2, 'Line ' || at || ' of the log', 1700000000000000000 + at * 1000000000::bigint, 1700000000000000000 + at * 1000000000::bigint
       from generate_series(1, 100000) as at`,
      [admin.user.id, id],
    );
    const short = await admin.make({ name: "Short", type: "group", user_ids: [ann.user.id] });
    await admin.post(short, "Line 100000 of the log");
    const open = async (channel: string) => {
      const started = performance.now();
      const at = { url: stage.app.url, path: `/channels/${channel}`, token: ann.user.token };
      const opened = await openPage(at);
      await opened.page.getByText("Line 100000 of the log").waitFor();
      return { ...opened, ms: Math.round(performance.now() - started) };
    };
    // The first is for the compiler.
    await (await open(short)).close();
    const small = await open(short);
    const { page, ms } = await open(id);
    process.stdout.write(`a channel of 100,000 messages opens in ${ms} ms, one of 1 in ${small.ms} ms\n`);
    await small.close();
    const log = page.getByRole("log", { name: "Messages" });
    const shown = () => log.getByRole("article").count();
    expect(await shown()).toBe(50);
    const scroll = (to: "top" | "bottom") =>
      log.evaluate((box, place) => box.scrollTo({ top: place === "top" ? 0 : box.scrollHeight }), to);
    const line = (at: number) => log.getByText(`Line ${at} of the log`, { exact: true });
    await expect
      .poll(async () => (await scroll("top"), await line(99_500).count()), { timeout: 60_000 })
      .toBe(1);
    expect(await shown()).toBe(400);
    expect(await line(100_000).count()).toBe(0);
    await admin.post(id, "Said while far away");
    await expect
      .poll(async () => (await scroll("bottom"), await log.getByText("Said while far away").count()), {
        timeout: 60_000,
      })
      .toBe(1);
    expect(await shown()).toBeLessThanOrEqual(401);
    expect(await line(100_000).count()).toBe(1);
    // Back at the end, what comes is followed again.
    await scroll("bottom");
    await admin.post(id, "Said at the end");
    await log.getByText("Said at the end").waitFor();
  });
});
