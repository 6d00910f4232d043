// Takes long: it visits every page of the platform with keys and mouse.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "#test/support/browser.ts";
import { quarantine } from "#test/support/quarantine.ts";
import { expectNone } from "./support/faults.ts";
import { deskSeats, keySeats } from "./support/part.ts";
import { type Platform, usePlatform } from "./support/platform.ts";
import { closeDialogs, hasField, readFocus, startersOf } from "./support/starters.ts";
import { follow, startVisit, visitAll } from "./support/visit.ts";

describe.skipIf(chromiumPath === undefined)("a person with a keyboard", { timeout: 3_600_000 }, () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await usePlatform();
  });

  const visit = () => startVisit(platform, { token: platform.admin.token });

  test.each(["/settings", "/admin", "/workspace", "/channels"])(
    "opens the first page of %s",
    async (path) => {
      const visitor = await visit();
      await visitor.open(path);
      await visitor.page.getByRole("heading", { level: 1 }).first().waitFor();
      expect(await visitor.page.getByText(missing).count()).toBe(0);
      await visitor.close();
    },
  );

  test("opens every page by its address, reaches everything there by Tab, and meets no refused request", async () => {
    const faults = await visitAll(
      platform,
      "Tab",
      async (visitor, { path }) => {
        await visitor.open(path);
        const isMissing = (await visitor.page.getByText(missing).count()) > 0;
        const missed = await findUnreached(visitor.page);
        return [
          ...(isMissing ? ["there is no page"] : []),
          ...missed.map((name) => `Tab does not reach “${name}”`),
          ...visitor.takeRefused(),
        ];
      },
      { from: keySeats() },
    );
    expectNone(faults);
  });

  test(
    "begins in the first field of what is new, and loses no letter that is typed at once",
    quarantine("New chat loses the letters that are typed before its page has come", async () => {
      const faults = await visitAll(
        platform,
        "First fields",
        async (visitor, { path }) => {
          const { page, traffic } = visitor;
          await visitor.open(path);
          const found: string[] = [];
          const names = new Set(await startersOf(page).allTextContents());
          for (const name of names) {
            const starter = startersOf(page).filter({ hasText: name }).first();
            if (!(await starter.isVisible()) || !(await starter.isEnabled())) {
              continue;
            }
            await starter.click();
            await page.keyboard.type("Abc");
            await traffic.settle();
            const focus = await readFocus(page);
            const isOpen =
              (await page.getByRole("dialog").count()) > 0 || new URL(page.url()).pathname !== path;
            if (isOpen && (await hasField(page)) && !focus.value.includes("Abc")) {
              found.push(
                `after “${name.trim()}” the focus is on “${focus.name}”, which holds “${focus.value}”`,
              );
            }
            await closeDialogs(page, traffic);
            await visitor.open(path);
          }
          return [...found, ...visitor.takeRefused()];
        },
        { from: deskSeats },
      );
      expectNone(faults);
    }),
  );

  test("closes the topmost thing alone by Escape", async () => {
    const visitor = await visit();
    const { page } = visitor;
    await visitor.open("/calendar");
    await page.getByRole("button", { name: "New event", exact: true }).click();
    await page.keyboard.type("Abc");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Discard what you typed?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Discard what you typed?" }).waitFor({ state: "detached" });
    expect(await page.getByRole("dialog").count()).toBe(1);
    await visitor.close();
  });

  test("goes back to where they were", async () => {
    const faults = await visitAll(
      platform,
      "Back",
      async (visitor, { path }) => {
        if (path === "/archived") {
          return [];
        }
        await visitor.open("/archived");
        await follow(visitor, path);
        await visitor.page.goBack();
        await visitor.page.getByRole("heading", { name: "Archived chats" }).waitFor();
        return visitor.takeRefused();
      },
      { from: keySeats() },
    );
    expectNone(faults);
  });
});

const missing = /^(There is nothing at this address|This page could not be loaded|This page failed)/;

/** Presses Tab until the focus comes round, and names what a person sees, can press, and did not reach. */
async function findUnreached(page: Page): Promise<string[]> {
  await page.evaluate(`(() => {
    document.activeElement?.blur();
    window.reached = new Set();
    document.addEventListener("focusin", ({ target }) => window.reached.add(target), { capture: true });
  })()`);
  const count = () => page.evaluate<number>(`document.querySelectorAll(${JSON.stringify(focusable)}).length`);
  // Parts of a page that come late are counted as well.
  for (let presses = 0; presses < (await count()) + 5; presses += 1) {
    // In an editor of code Tab is a letter, unless Escape came before it.
    if (await page.evaluate<boolean>("document.activeElement?.shadowRoot != null")) {
      await page.keyboard.press("Escape");
    }
    await page.keyboard.press("Tab");
  }
  return await page.evaluate<string[]>(`[...document.querySelectorAll("main :is(${focusable})")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.closest("[inert], [aria-hidden='true']") === null)
    // Of radio buttons, tabs, rows and cells of a group Tab reaches one, and arrows the others.
    .filter((each) => each.type !== "radio" && each.tabIndex >= 0)
    .filter((each) => !window.reached.has(each))
    .map((each) => (each.getAttribute("aria-label") || each.textContent || each.tagName).trim().slice(0, 40))`);
}

const focusable = "a[href], button, input, textarea, select, [contenteditable='true'], [tabindex='0']";
