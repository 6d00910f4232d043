import type { Locator, Page } from "playwright-core";
import type { Traffic } from "./settle.ts";

/** Buttons and links of a page that begin something new: a dialog, a form on the page, or a page of its own. */
export const startersOf = (page: Page): Locator =>
  page
    .locator("main")
    .getByRole("button", { name: starters })
    .or(page.locator("main").getByRole("link", { name: starters }));

const starters = /^(New|Add|Create|Invite|Connect|Import)( [\p{L} ]+)?$/u;

/** The dialog in front of the others. */
export const topDialog = (page: Page): Locator => page.getByRole("dialog").last();

/** A short name of the element that has the focus, and the text that it holds. */
export interface Focus {
  readonly name: string;
  readonly isWritable: boolean;
  readonly isInDialog: boolean;
  readonly value: string;
}

export const readFocus = (page: Page): Promise<Focus> =>
  page.evaluate<Focus>(`(() => {
    const element = document.activeElement ?? document.body;
    const labels = [...(element.labels ?? [])].map((label) => label.textContent).join(" ");
    return {
      name: (element.getAttribute("aria-label") || labels || element.getAttribute("placeholder") || element.textContent || element.tagName).trim().slice(0, 60),
      isWritable: element.matches('input:not([type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]'),
      isInDialog: element.closest('[role="dialog"]') !== null,
      value: "value" in element ? String(element.value) : element.isContentEditable ? element.innerText : "",
    };
  })()`);

/** True when the place that is open, or the dialog in front of it, has a field for text. */
export const hasField = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const roots = [...document.querySelectorAll('[role="dialog"]')];
    const root = roots.at(-1) ?? document.querySelector("main");
    return [...root.querySelectorAll('input:not([type="checkbox"], [type="radio"], [type="file"], [type="hidden"], [type="range"], [type="color"]), textarea, [contenteditable="true"]')]
      .some((field) => field.checkVisibility({ visibilityProperty: true }) && !field.disabled && !field.readOnly && field.closest("nav") === null);
  })()`);

/** Presses Escape until no dialog is open; typed text is discarded. */
export async function closeDialogs(page: Page, { settle }: Traffic): Promise<void> {
  for (let tries = 0; tries < 4 && (await page.getByRole("dialog").count()) > 0; tries += 1) {
    const discard = page.getByRole("button", { name: "Discard", exact: true });
    await ((await discard.count()) > 0 ? discard.click() : page.keyboard.press("Escape"));
    await settle();
  }
}
