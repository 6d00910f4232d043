import type { Locator, Page } from "playwright-core";

// Suites of the interface press keys and buttons as people do: a value that is set by a call skips the shortcuts,
// suggestions and handlers that a person meets. Only what set-up needs may be set otherwise, with a comment that says so.

/** Types where the caret is, or after a click into the field. Line breaks are Enter. */
export async function type(target: Locator | Page, text: string): Promise<void> {
  const keyboard = await reach(target);
  await keyboard.type(text);
}

/** Puts a text in place of what a field holds; nothing empties it. */
export async function write(field: Locator, text: string): Promise<void> {
  const keyboard = await reach(field);
  await keyboard.press("ControlOrMeta+a");
  await (text === "" ? keyboard.press("Delete") : keyboard.type(text));
}

/** Brings a text in as one piece, as pasting does: code, several lines, or what no keyboard has. */
export async function paste(field: Locator, text: string): Promise<void> {
  const keyboard = await reach(field);
  await keyboard.press("ControlOrMeta+a");
  await keyboard.insertText(text);
}

/** Pastes a text from the clipboard where the caret is, as browsers do it: fields may cut or refuse it. */
export async function pasteFromClipboard(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate((written) => navigator.clipboard.writeText(written), text);
  await page.keyboard.press("ControlOrMeta+v");
}

/** Gives a date (`2026-11-28`) or a time (`09:30`) to the field of an English browser, part by part. */
export async function writeMoment(field: Locator, moment: string): Promise<void> {
  await field.press("Home");
  await field.page().keyboard.type(isDate(moment) ? inEnglishOrder(moment) : onTwelveHours(moment));
}

/** Presses the label around a radio button or a box whose own control is out of sight. */
export async function pick(control: Locator): Promise<void> {
  await control.locator("xpath=ancestor::label").click();
}

/** Opens the list of choices whose name begins so, and takes one. */
export async function choose(within: Locator | Page, name: string, option: string | RegExp): Promise<void> {
  await within.getByRole("combobox", { name: new RegExp(`^${RegExp.escape(name)}`) }).click();
  await pageOf(within).getByRole("option", { name: option }).click();
}

async function reach(target: Locator | Page): Promise<Page["keyboard"]> {
  if ("keyboard" in target) {
    return target.keyboard;
  }
  await target.click();
  return target.page().keyboard;
}

const pageOf = (target: Locator | Page): Page => ("keyboard" in target ? target : target.page());

const isDate = (moment: string): boolean => moment.includes("-");

function inEnglishOrder(date: string): string {
  const [year = "", month = "", day = ""] = date.split("-");
  return `${month}${day}${year}`;
}

function onTwelveHours(time: string): string {
  const [hour = "", minute = ""] = time.split(":");
  const half = Number(hour) < 12 ? "AM" : "PM";
  return `${String(Number(hour) % 12 || 12).padStart(2, "0")}${minute}${half}`;
}
