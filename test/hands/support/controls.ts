import type { ElementHandle, Page } from "playwright-core";

/** Kinds of controls that hold a value, by their role. */
export type ControlKind =
  | "switch"
  | "checkbox"
  | "radios"
  | "choice"
  | "search-choice"
  | "slider"
  | "colour"
  | "text"
  | "rich-text";

export interface Control {
  readonly kind: ControlKind;
  /** As a screen reader says it. */
  readonly name: string;
  /** Which one of those with this kind and name. */
  readonly nth: number;
  readonly value: string;
  /** The `type` of an input, such as `number`. */
  readonly type: string;
  readonly placeholder: string;
  /** Its text is for the moment: a search, or a form that tries something out. */
  readonly isPassing: boolean;
  readonly isDisabled: boolean;
  /** The dialog that it stands in; empty on the page itself. */
  readonly dialog: string;
}

/** Every control that a person sees on the page, or in the dialog above it, from top to bottom. */
export const findControls = (page: Page): Promise<Control[]> =>
  page.evaluate<Control[]>(`(${find})().map(({ element, ...control }) => control)`);

/** The element of a control as it is now; null when the page does not show it. */
export async function locate(
  page: Page,
  { kind, name, nth }: Control,
): Promise<ElementHandle<HTMLElement> | null> {
  const wanted = JSON.stringify({ kind, name, nth });
  const handle = await page.evaluateHandle<HTMLElement | null>(
    `(${find})().find(({ kind, name, nth }) => JSON.stringify({ kind, name, nth }) === ${JSON.stringify(wanted)})?.element ?? null`,
  );
  return handle.asElement() as ElementHandle<HTMLElement> | null;
}

/** The same control as the page shows it now. */
export async function readAgain(page: Page, { kind, name, nth }: Control): Promise<Control | undefined> {
  const controls = await findControls(page);
  return controls.find((each) => each.kind === kind && each.name === name && each.nth === nth);
}

// Runs in the page, as text: nothing of this module is in its reach.
const find = String.raw`() => {
  const passing = '[type="search"], [role="searchbox"], [data-passing] *';
  const dialogs = [...document.querySelectorAll('[role="dialog"], [role="alertdialog"]')].filter((each) => each.checkVisibility());
  const dialog = dialogs.at(-1);
  const roots = dialog ? [dialog] : [...document.querySelectorAll("main")];
  const wordsOf = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
  const clean = (text) => (text ?? "").replaceAll(/\s+/g, " ").trim();
  const nameOf = (element, kind) => {
    const by = element.getAttribute("aria-labelledby");
    // The last word of a choice is what is chosen.
    const words = by && wordsOf(kind === "choice" ? by.split(/\s+/)[0] : by);
    const labels = [...(element.labels ?? [])].map((label) => label.textContent).join(" ");
    const own = element.id ? document.querySelector('label[for="' + CSS.escape(element.id) + '"]')?.textContent : "";
    return clean(words || element.getAttribute("aria-label") || labels || own || element.getAttribute("placeholder") || element.title);
  };
  const kindOf = (element) => {
    const role = element.getAttribute("role");
    const type = element.getAttribute("type");
    if (role === "switch") return "switch";
    if (role === "checkbox" || type === "checkbox") return "checkbox";
    if (role === "radiogroup") return "radios";
    if (role === "slider" || type === "range") return "slider";
    if (type === "color") return "colour";
    if (role === "combobox" || element.tagName === "SELECT") return element.tagName === "INPUT" ? "search-choice" : "choice";
    return element.isContentEditable ? "rich-text" : "text";
  };
  const radiosOf = (element) => [...element.querySelectorAll('input[type="radio"], [role="radio"]')];
  const valueOf = (element, kind) => {
    if (kind === "switch" || (kind === "checkbox" && element.getAttribute("role") === "checkbox")) return element.getAttribute("aria-checked") ?? "";
    if (kind === "checkbox") return String(element.checked);
    if (kind === "radios") return clean(radiosOf(element).find((radio) => radio.checked || radio.getAttribute("aria-checked") === "true")?.closest("label")?.textContent);
    if (kind === "choice") return element.tagName === "SELECT" ? element.value : clean(element.textContent);
    if (kind === "slider") return element.value ?? element.getAttribute("aria-valuenow");
    return kind === "rich-text" ? element.innerText.replaceAll("\u200b", "") : element.value;
  };
  const wanted = 'input:not([type="hidden"], [type="file"], [type="radio"], [type="submit"]), textarea, select, [role="switch"], [role="checkbox"], [role="radiogroup"], [role="slider"], [role="combobox"], [role="textbox"], [contenteditable="true"]';
  const counts = new Map();
  return roots.flatMap((root) => [...root.querySelectorAll(wanted)])
    .filter((element, at, all) => all.indexOf(element) === at)
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && element.closest("[inert], [aria-hidden='true']") === null)
    .filter((element) => !element.readOnly && element.getAttribute("aria-readonly") !== "true" && element.getAttribute("contenteditable") !== "false")
    .map((element) => {
      const kind = kindOf(element);
      const name = nameOf(element, kind);
      const key = kind + ":" + name;
      const nth = counts.get(key) ?? 0;
      counts.set(key, nth + 1);
      const isDisabled = kind === "radios" ? radiosOf(element).every((radio) => radio.disabled) : element.disabled === true || element.getAttribute("aria-disabled") === "true" || element.hasAttribute("data-disabled");
      return {
        element, kind, name, nth, isDisabled,
        value: valueOf(element, kind) ?? "",
        type: element.getAttribute("type") ?? "",
        placeholder: element.getAttribute("placeholder") ?? "",
        isPassing: element.matches(passing),
        dialog: dialog ? nameOf(dialog, "dialog") : "",
      };
    });
}`;
