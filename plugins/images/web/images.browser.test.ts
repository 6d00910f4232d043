import { beforeEach, expect, test } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { choose, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { drawPicture } from "#test/support/pictures.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { type ImageStage, isEdit, isGeneration, startImageStage } from "../images.fixture.ts";

describeInterface("the page of pictures", ({ setUp, openPage }) => {
  let all: ImageStage;

  setUp(async (keep) => {
    all = await keep(startImageStage());
  });
  beforeEach(async () => {
    await all.reset();
    const picture = (words: string) => ({ b64_json: drawPicture(words).toString("base64") });
    all.engine.always(isGeneration, (exchange) => {
      const { prompt, n } = exchange.request.body as { prompt: string; n: number };
      return json({ data: Array.from({ length: n }, (_, at) => picture(`${prompt} ${at}`)) })(exchange);
    });
    all.engine.always(isEdit, (exchange) => json({ data: [picture("changed")] })(exchange));
  });

  const open = async (size: "desk" | "phone" = "desk", who?: TestUser, path = "/images") => {
    const { token } = who ?? (await all.stage.app.user());
    return await openPage({ url: all.stage.app.url, token, path, size });
  };
  const asked = (which: typeof isEdit) => all.engine.requests.findLast(which);

  test("makes, changes, shows, downloads and removes pictures, and takes a removal back", async () => {
    const { page } = await open();
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const tiles = page.getByRole("list", { name: "Pictures", exact: true }).getByRole("listitem");
    await page.getByText("No pictures yet.").waitFor();
    await expectNoAxeFindings(page);
    await button("A map of an invented island, in ink").click();
    const field = page.getByRole("textbox", { name: "Describe a picture" });
    await expect.poll(() => field.inputValue()).toBe("A map of an invented island, in ink");
    await page.getByRole("combobox", { name: /^Number/ }).click();
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["1", "2", "3", "4"]);
    await page.getByRole("option", { name: "2" }).click();
    await choose(page, "Format", "Wide");
    await field.press("Enter");
    await expect.poll(() => tiles.count()).toBe(2);
    expect(asked(isGeneration)?.body).toMatchObject({ n: 2, size: "1536x1024" });
    const image = tiles.first().getByRole("img");
    await expect.poll(() => image.evaluate((node: HTMLImageElement) => node.naturalWidth)).toBe(512);
    await expectNoAxeFindings(page);

    await tiles.first().getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1536 × 1024").waitFor();
    await expectNoAxeFindings(page, "[role=dialog]");
    await page.keyboard.press("ArrowRight");
    await dialog.getByRole("button", { name: "Newer picture" }).waitFor();
    const saved = page.waitForEvent("download");
    await dialog.getByRole("link", { name: "Download" }).click();
    expect((await saved).suggestedFilename()).toMatch(/^a-map-of-an-invented-island.*\.png$/);

    await dialog.getByRole("button", { name: "Change it" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("list", { name: "Pictures to change" }).getByRole("img").waitFor();
    await write(page.getByRole("textbox", { name: "Say what is to be changed" }), "Add a harbour");
    await button("Change").click();
    await tiles.getByRole("button", { name: "Add a harbour" }).waitFor();
    expect(asked(isEdit)?.body).toContain("Add a harbour");

    await tiles.getByRole("button", { name: "Add a harbour" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => tiles.count()).toBe(2);
    await button("Undo").click();
    await tiles.getByRole("button", { name: "Add a harbour" }).waitFor();
    await tiles.getByRole("button", { name: "Add a harbour" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("The picture is deleted.").waitFor();
    // Leaving the page decides it.
    await page.goto("about:blank");
    await page.goto(`${all.stage.app.url}/images`);
    await expect.poll(() => tiles.count()).toBe(2);
  });

  test("takes a picture of the person, tells failures in the engine's words, and stops on demand", async () => {
    const { page } = await open("phone");
    const picture = { name: "mill.png", mimeType: "image/png", buffer: drawPicture("mill") };
    await page.locator("input[aria-label='Pictures to change']").setInputFiles(picture);
    await page.getByRole("img", { name: "mill.png" }).waitFor();
    await write(page.getByRole("textbox"), "Make it night");
    all.engine.reply(isEdit, json({ error: { message: "Not this." } }, { status: 400 }));
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByText("It says: Not this.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Make it night" }).waitFor();

    const left = new Promise<void>((resolve) => {
      all.engine.reply(isGeneration, async (exchange) => {
        await exchange.hold();
        resolve();
      });
    });
    await write(page.getByRole("textbox"), "A slow one");
    await page.getByRole("button", { name: "Make", exact: true }).click();
    await page.getByText("Being made").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Stop" }).click();
    await left;
    await page.getByText("Being made").waitFor({ state: "detached" });
    const overflow = await page.evaluate(() => document.body.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Make it night" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Change it" }).waitFor();
    await expectNoAxeFindings(page, "[role=dialog]");
  });

  test("offers what the settings allow: number, changes, or the way to set it up", async () => {
    const user = await all.stage.app.user();
    const { token } = user;
    await all.stage.app.call("POST /api/v1/images/generations", { token, body: { prompt: "One" } });
    await all.set({ IMAGE_GENERATION_MAX_COUNT: 1, ENABLE_IMAGE_EDIT: false });
    const first = await open("desk", user);
    await first.page.getByRole("button", { name: "One" }).click();
    await first.page.getByRole("dialog").getByRole("link", { name: "Download" }).waitFor();
    const offered = (name: RegExp, role: "button" | "combobox" = "button") =>
      first.page.getByRole(role, { name, includeHidden: true }).count();
    expect(await offered(/^Format/, "combobox")).toBe(1);
    const left = [offered(/^Number/, "combobox"), offered(/Change it/), offered(/Add pictures/)];
    expect(await Promise.all(left)).toEqual([0, 0, 0]);
    await first.close();
    await all.set({ IMAGE_GENERATION_MAX_COUNT: 4, ENABLE_IMAGE_GENERATION: false });
    const off = await open("desk", user);
    await off.page.getByText("Making pictures is switched off.").waitFor();
    await off.page.getByText("An administrator can change that").waitFor();
    await off.close();

    const admin = await open("desk", all.stage.user);
    await admin.page.getByRole("link", { name: "Set pictures up" }).click();
    await admin.page.getByRole("heading", { name: "Making pictures" }).waitFor();
    await expectNoAxeFindings(admin.page);
    await write(admin.page.getByRole("textbox", { name: "Try a picture" }), "A mill");
    await admin.page.getByRole("button", { name: "Try", exact: true }).click();
    await admin.page.getByRole("img", { name: "A mill" }).waitFor();
    await admin.close();
  });
});
