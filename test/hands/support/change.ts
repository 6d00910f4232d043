import type { ElementHandle, Page } from "playwright-core";
import { type Control, locate } from "./controls.ts";

/** Texts for fields that do not take any text, by their names. */
const wanted: Readonly<Record<string, string>> = {
  "JWT expires in": "2w",
  Command: "hands-other",
  Currency: "EUR",
  Size: "256x256",
  When: "every day at 8:00 AM",
};

/** Gives a control another value, by mouse and keys. One that has no other value stays as it is. */
export async function change(page: Page, control: Control): Promise<void> {
  switch (control.kind) {
    case "choice":
    case "search-choice":
      return await choose(page, control, ({ isChosen }) => !isChosen);
    case "radios":
      return await pickRadio(page, control, (label) => label !== control.value);
    case "text":
    case "rich-text":
      return await rewrite(page, control, await otherText(page, control));
    default:
      return await press(page, control);
  }
}

/** Gives a control that shows `now` the value that it had before it was changed. */
export async function changeBack(page: Page, control: Control, now: string): Promise<void> {
  const before = control.value;
  switch (control.kind) {
    case "choice":
    case "search-choice":
      return await choose(page, { ...control, value: now }, ({ label }) => before.startsWith(label));
    case "radios":
      return await pickRadio(page, control, (label) => label === before);
    case "text":
    case "rich-text":
      return await rewrite(page, control, before);
    default:
      return await press(page, control);
  }
}

async function reach(page: Page, control: Control): Promise<ElementHandle<HTMLElement>> {
  const element = await locate(page, control);
  if (!element) {
    throw new Error(`${control.name} is gone`);
  }
  return element;
}

async function press(page: Page, control: Control): Promise<void> {
  const element = await reach(page, control);
  await (control.kind === "slider" ? element.press("ArrowRight") : element.click());
}

async function pickRadio(page: Page, control: Control, fits: (label: string) => boolean): Promise<void> {
  const group = await reach(page, control);
  for (const label of await group.$$("label, [role=radio]")) {
    const text = (await label.textContent())?.replaceAll(/\s+/g, " ").trim() ?? "";
    if (fits(text) && (await label.$("input:disabled")) === null) {
      await label.click();
      return;
    }
  }
}

interface Option {
  readonly label: string;
  readonly isChosen: boolean;
}

async function choose(page: Page, control: Control, fits: (option: Option) => boolean): Promise<void> {
  await (await reach(page, control)).click();
  const options = page.locator('[role="option"]:visible');
  await options.first().waitFor();
  const all = await page.evaluate<Option[]>(
    `[...document.querySelectorAll('[role="option"]')].filter((option) => option.checkVisibility()).map((option) => ({
      label: (option.querySelector("span > span") ?? option).textContent.replaceAll(/\\s+/g, " ").trim(),
      isChosen: option.getAttribute("aria-selected") === "true" || option.hasAttribute("data-selected"),
    }))`,
  );
  const at = all.findIndex(fits);
  if (at < 0) {
    await page.keyboard.press("Escape");
    return;
  }
  await options.nth(at).click();
}

async function rewrite(page: Page, control: Control, text: string): Promise<void> {
  const element = await reach(page, control);
  await element.click();
  await page.keyboard.press("ControlOrMeta+a");
  await (text === "" ? page.keyboard.press("Delete") : page.keyboard.insertText(text));
  if (control.kind === "text") {
    await page.keyboard.press("Tab");
  }
}

async function otherText(page: Page, control: Control): Promise<string> {
  const { name, value, type, placeholder } = control;
  const known = wanted[name.replace(/ \(.*\)$/, "")];
  if (known !== undefined) {
    return known;
  }
  if (type === "number") {
    const element = await reach(page, control);
    const [min, max] = await Promise.all([element.getAttribute("min"), element.getAttribute("max")]);
    const next = value === "" ? Number(min ?? 1) : Number(value) + 1;
    return String(max !== null && next > Number(max) ? Number(max) - 1 : next);
  }
  if (/^https?:/.test(value || placeholder) || type === "url") {
    return "https://hands.test/other";
  }
  if (type === "email" || /e-?mail/i.test(name)) {
    return "hands@mill.test";
  }
  return value === "" ? "hands" : `${value} 2`;
}
