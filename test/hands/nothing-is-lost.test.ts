// Takes long: it types into every page and dialog of the platform, and leaves them.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "#test/support/browser.ts";
import { type Control, findControls, locate } from "./support/controls.ts";
import { whyNot } from "./support/exceptions.ts";
import { expectNone } from "./support/faults.ts";
import { keySeats } from "./support/part.ts";
import { type Platform, usePlatform } from "./support/platform.ts";
import { closeDialogs, startersOf } from "./support/starters.ts";
import { follow, startVisit, visitAll, type Visitor } from "./support/visit.ts";

const typed = "Typed and kept";

describe.skipIf(chromiumPath === undefined)("what is typed", { timeout: 3_600_000 }, () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await usePlatform();
  });

  test("in a page is there on return, or was asked about", async () => {
    const faults = await visitAll(
      platform,
      "Typed into pages",
      async (visitor, { path }) => {
        await visitor.open(path);
        const field = await firstText(visitor, path);
        if (!field) {
          return [];
        }
        const faults: string[] = [];
        await write(visitor, field);
        await follow(visitor, "/notifications");
        if (await isAsked(visitor.page)) {
          await keepEditing(visitor);
          if (!(await isThere(visitor.page))) {
            faults.push(`“${field.name}” is empty after “Keep editing”`);
          }
        } else {
          await visitor.page.goBack();
          await visitor.traffic.settle();
          if (!(await isThere(visitor.page))) {
            faults.push(`“${field.name}” was lost by a link`);
          }
        }
        const wasAsked = await reload(visitor);
        if (!wasAsked && !(await isThere(visitor.page))) {
          faults.push(`“${field.name}” was lost by a reload`);
        }
        return faults;
      },
      { from: keySeats() },
    );
    expectNone(faults);
  });

  test("in a dialog is asked about before it goes", async () => {
    const faults = await visitAll(
      platform,
      "Typed into dialogs",
      async (visitor, { path }) => {
        const { page, traffic } = visitor;
        await visitor.open(path);
        const found: string[] = [];
        for (const name of new Set(await startersOf(page).allTextContents())) {
          const starter = startersOf(page).filter({ hasText: name }).first();
          if (!(await starter.isVisible()) || !(await starter.isEnabled())) {
            continue;
          }
          await starter.click();
          await traffic.settle();
          const field =
            (await page.getByRole("dialog").count()) > 0 ? await firstText(visitor, path) : undefined;
          if (field) {
            await write(visitor, field);
            await page.keyboard.press("Escape");
            await traffic.settle();
            if (await isAsked(page)) {
              await keepEditing(visitor);
            } else {
              found.push(`Escape closes the dialog of “${name.trim()}” without a question`);
            }
            if (!(await reload(visitor))) {
              found.push(`a reload takes the dialog of “${name.trim()}” without a question`);
            }
          }
          await closeDialogs(page, traffic);
          await visitor.open(path);
        }
        return found;
      },
      { from: keySeats() },
    );
    expectNone(faults);
  });

  test("into a message that is changed is there after a reload", async () => {
    const visitor = await startVisit(platform, { token: platform.admin.token });
    const { page } = visitor;
    await visitor.open(`/c/${platform.admin.things.get("/c/:id")}`);
    await page.getByText("How high is it?").first().hover();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Text of your message" }).click();
    await page.keyboard.type(typed);
    expect(await reload(visitor)).toBe(false);
    expect(await isThere(page)).toBe(true);
    await page.keyboard.press("Escape");
    await visitor.close();
  });

  test("stays when the session ends, and when the server restarts", async () => {
    const person = await platform.person("user");
    const visitor = await startVisit(platform, { token: person.token });
    await visitor.open("/settings/account");
    const field = (await firstText(visitor, "/settings/account")) as Control;
    await write(visitor, field);
    await platform.restart();
    await visitor.page.keyboard.press("Enter");
    await visitor.page.getByText("Saved", { exact: true }).first().waitFor();
    await write(visitor, field, "Typed again");
    await platform.call("POST /api/v1/auths/signout", { token: person.token });
    await visitor.page.keyboard.press("Enter");
    await visitor.page.getByText("Your session has ended. What you typed is still here.").waitFor();
    expect((await findControls(visitor.page)).map(({ value }) => value)).toContain("Typed again");
    await visitor.close();
  });
});

/** The first field of the place that is open which keeps what is typed. */
async function firstText({ page }: Visitor, path: string): Promise<Control | undefined> {
  const controls = await findControls(page);
  const isText = ({ kind, type }: Control) =>
    (kind === "text" && !/^(number|date|time|datetime-local|email|url)$/.test(type)) || kind === "rich-text";
  return controls.find((control) => isText(control) && whyNot(path, control) === undefined);
}

async function write({ page }: Visitor, field: Control, text = typed): Promise<void> {
  const element = await locate(page, field);
  await element?.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(text);
}

const question = (page: Page) => page.getByRole("dialog", { name: "Discard what you typed?" });
const isAsked = async (page: Page) => (await question(page).count()) > 0;

async function keepEditing({ page }: Visitor): Promise<void> {
  await question(page).getByRole("button", { name: "Keep editing" }).click();
  await question(page).waitFor({ state: "detached" });
}

/** True once a field holds what was typed; a page that comes back loads it first. */
const isThere = (page: Page) =>
  expect
    .poll(async () => (await findControls(page)).some(({ value }) => value.includes(typed)), {
      timeout: 8000,
    })
    .toBe(true)
    .then(
      () => true,
      () => false,
    );

/** Reloads the page; true when the browser asked before. */
async function reload({ page, traffic }: Visitor): Promise<boolean> {
  let wasAsked = false;
  page.once("dialog", (dialog) => {
    wasAsked = true;
    void dialog.accept();
  });
  await page.reload();
  page.removeAllListeners("dialog");
  await traffic.settle();
  return wasAsked;
}
