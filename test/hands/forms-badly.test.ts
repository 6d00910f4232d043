// Takes long: it sends every form of every page, and has it refused in five ways.
import type { Locator, Page, Route } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "#test/support/browser.ts";
import { type Control, findControls, locate, readAgain } from "./support/controls.ts";
import { whyNot } from "./support/exceptions.ts";
import { expectNone } from "./support/faults.ts";
import { isWhole } from "./support/part.ts";
import { type Platform, usePlatform } from "./support/platform.ts";
import { closeDialogs, startersOf } from "./support/starters.ts";
import { startVisit, visitAll, type Visitor } from "./support/visit.ts";

const typed = "مطحنة 🌊 mill";
const words = "The miller says no.";

/** An answer to what a form sends, in place of the server's. */
interface Answer {
  readonly name: string;
  answer(route: Route): Promise<void>;
  /** The words that the page has to show. */
  readonly shows: string;
  /** The field that it is about gets the focus. */
  readonly isAboutField?: boolean;
}

const refuse = (status: number): Answer => ({
  name: String(status),
  answer: (route) => route.fulfill({ status, json: { detail: words } }),
  shows: words,
});

const answers: readonly Answer[] = [
  refuse(409),
  refuse(429),
  refuse(500),
  {
    name: "422",
    answer: (route) =>
      route.fulfill({
        status: 422,
        json: { detail: [{ type: "value_error", loc: ["body", ...pathOf(route)], msg: words, input: null }] },
      }),
    shows: words,
    isAboutField: true,
  },
  {
    name: "a cut line",
    answer: (route) => route.abort("connectionreset"),
    shows: "The server cannot be reached.",
  },
];

describe.skipIf(chromiumPath === undefined)("a form that is refused", { timeout: 3_600_000 }, () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await usePlatform();
  });

  test("says why, keeps what was typed, and can be sent again", async () => {
    const faults = await visitAll(platform, "Refused forms", async (visitor, { path }) => {
      const { page, traffic } = visitor;
      await visitor.open(path);
      const found: string[] = [];
      const names = [undefined, ...new Set(await startersOf(page).allTextContents())];
      for (const name of names) {
        await visitor.open(path);
        if (name !== undefined && !(await begin(visitor, path, name))) {
          continue;
        }
        found.push(
          ...(await sendAll(visitor, path)).map((fault) => `${name?.trim() ?? "the page"}: ${fault}`),
        );
        await closeDialogs(page, traffic);
      }
      return found;
    });
    process.stdout.write(`${sentForms.size} kinds of requests were refused.\n`);
    expectNone(faults);
    expect(sentForms.size).toBeGreaterThan(isWhole ? 20 : 0);
  });

  test("takes no second press while the server hangs, and the next one after it", async () => {
    const visitor = await startVisit(platform, { token: platform.admin.token });
    await visitor.open("/settings/account");
    const { page } = visitor;
    const field = (await texts(page, "/settings/account"))[0] as Control;
    await fill(page, field);
    const { promise: held, resolve: hold } = Promise.withResolvers<Route>();
    await page.route("**/api/**", (route) => (isWrite(route) ? hold(route) : route.fallback()));
    const button = (await submitOf(page)) as Locator;
    await button.click();
    const route = await held;
    await expect.poll(() => button.isDisabled()).toBe(true);
    await route.fulfill({ status: 504, json: { detail: words } });
    await page.getByText(words).first().waitFor();
    await page.unroute("**/api/**");
    await button.click();
    await page.getByText("Saved", { exact: true }).first().waitFor();
    expect((await readAgain(page, field))?.value).toBe(typed);
    await visitor.close();
  });
});

/** Presses what begins something new; false where that leads to another page, which is visited by itself. */
async function begin({ page, traffic }: Visitor, path: string, name: string): Promise<boolean> {
  const starter = startersOf(page).filter({ hasText: name }).first();
  if (!(await starter.isVisible()) || !(await starter.isEnabled())) {
    return false;
  }
  await starter.click();
  await traffic.settle();
  return new URL(page.url()).pathname === path;
}

/** Fills the form in front and sends it once for each answer. */
async function sendAll({ page, traffic }: Visitor, path: string): Promise<readonly string[]> {
  const fields = await texts(page, path);
  for (const field of fields) {
    await fill(page, field);
  }
  await traffic.settle();
  const button = fields.length === 0 ? undefined : await submitOf(page);
  if (button === undefined) {
    return [];
  }
  const found: string[] = [];
  for (const { name, answer, shows, isAboutField } of answers) {
    let sent = "";
    await page.route("**/api/**", (route) => {
      if (!isWrite(route)) {
        return route.fallback();
      }
      sent = `${route.request().method()} ${new URL(route.request().url()).pathname}`;
      return answer(route);
    });
    await button.click();
    await traffic.settle();
    await page.unroute("**/api/**");
    if (sent === "") {
      // The form itself asks for more.
      return found;
    }
    sentForms.add(sent.replaceAll(/\/[^/]*\d[^/]*/g, "/…"));
    const told = `${name} to ${sent}`;
    const isShown = await page
      .getByText(shows, { exact: false })
      .first()
      .isVisible()
      .catch(() => false);
    if (!isShown) {
      found.push(`${told}: the words are not shown`);
    } else if (
      isAboutField &&
      hasNamed(sent) &&
      !(await page.evaluate<boolean>(`document.activeElement?.getAttribute("aria-invalid") === "true"`))
    ) {
      found.push(`${told}: the field has not the focus`);
    }
    if ((await readAgain(page, fields[0] as Control))?.value !== typed) {
      found.push(`${told}: what was typed is gone`);
      return found;
    }
    if (!(await button.isEnabled())) {
      found.push(`${told}: the button does not work again`);
    }
  }
  return found;
}

/** What was sent and refused, without ids. */
const sentForms = new Set<string>();

/** Requests whose 422 named the field that was filled. */
const named = new Set<string>();
const hasNamed = (sent: string) => named.has(sent);

const isWrite = (route: Route) => /^(POST|PUT|PATCH)$/.test(route.request().method());

/** Where the typed text stands in what was sent, such as `["name"]`. */
function pathOf(route: Route): string[] {
  const request = route.request();
  const sent: unknown = request.postDataJSON();
  const found = Object.entries((sent ?? {}) as object).find(([, value]) => value === typed)?.[0];
  if (found !== undefined) {
    named.add(`${request.method()} ${new URL(request.url()).pathname}`);
  }
  return found === undefined ? [] : [found];
}

async function texts(page: Page, path: string): Promise<Control[]> {
  const controls = await findControls(page);
  return controls.filter(
    (control) =>
      control.kind === "text" && /^(text)?$/.test(control.type) && whyNot(path, control) === undefined,
  );
}

async function fill(page: Page, field: Control): Promise<void> {
  const element = await locate(page, field);
  await element?.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(typed);
}

/** The button that sends the form in front: one that the typed text has made usable counts before the others. */
async function submitOf(page: Page): Promise<Locator | undefined> {
  const verbs = /^(Save|Create|Add|Connect|Invite|Send|Import|Make)\b/;
  const buttons = await page
    .locator('main, [role="dialog"]')
    .last()
    .getByRole("button", { name: verbs })
    .all();
  for (const button of buttons.toReversed()) {
    if ((await button.isVisible()) && (await button.isEnabled())) {
      return button;
    }
  }
  return undefined;
}
