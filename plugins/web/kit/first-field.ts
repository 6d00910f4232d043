import { takeTypedAhead } from "./typed-ahead.ts";

const writable = [
  "[autofocus]:not(:disabled)",
  'input:not(:disabled):not([readonly]):not([type="hidden"]):not([type="checkbox"]):not([type="radio"]):not([type="file"]):not([type="range"]):not([type="color"])',
  "textarea:not(:disabled):not([readonly])",
  '[contenteditable="true"]',
].join(", ");

/** A search beside the page is not where a person begins. */
const isShown = (element: HTMLElement): boolean =>
  element.checkVisibility({ visibilityProperty: true }) && element.closest("[inert], nav") === null;

/** The field in which a person begins; the one that a page claimed, or with `autofocus`, counts before the others. */
export function firstField(root: ParentNode): HTMLElement | undefined {
  const fields = [...root.querySelectorAll<HTMLElement>(writable)].filter(isShown);
  return fields.find((field) => field === claimed || field.hasAttribute("autofocus")) ?? fields[0];
}

/**
 * Focuses the first field in `root`, also one that is loaded later or takes the place of the one before, until the pointer
 * or a key that writes nothing is pressed. An attachment of forms that open; on touch screens nothing is focused.
 */
export function focusFirstField(root: HTMLElement): (() => void) | undefined {
  if (isTouch()) {
    return undefined;
  }
  const control = new AbortController();
  const { signal } = control;
  const observer = new MutationObserver(look);

  let begun: HTMLElement | undefined;
  let typed = "";

  function look(): void {
    const field = begun?.isConnected ? undefined : firstField(root);
    if (field) {
      begun = field;
      typed += takeTypedAhead();
      begin(field, typed);
    }
  }

  signal.addEventListener("abort", () => observer.disconnect());
  observer.observe(root, { childList: true, subtree: true });
  const end = () => control.abort();
  const isWriting = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
    [...key].length === 1 && !ctrlKey && !metaKey && !altKey;
  document.addEventListener("pointerdown", end, { capture: true, signal });
  document.addEventListener("keydown", (event) => isWriting(event) || end(), { capture: true, signal });
  look();
  return () => control.abort();
}

/** Focuses the first field of the page to which a dialog led. */
export function focusPage(): void {
  const page = document.querySelector<HTMLElement>("main");
  if (page) {
    focusFirstField(page);
  }
}

/** The field with which the page of now begins. */
let claimed: HTMLElement | undefined;

/** Gives the caret to a field that a page begins with, unless the person is in the middle of something else. */
export function claimFocus(field: HTMLElement): void {
  claimed = field;
  const active = document.activeElement;
  const isElsewhere = active instanceof HTMLElement && active !== field && active.matches(writable);
  if (!isElsewhere && document.querySelector('[role="dialog"], [role="menu"]') === null && !isTouch()) {
    begin(field);
  }
}

function begin(field: HTMLElement, typed = takeTypedAhead()): void {
  field.focus({ preventScroll: true });
  // A field that takes the place of another one may hold what that one was given.
  const held = field instanceof HTMLInputElement ? field.value : (field.textContent ?? "");
  if (typed !== "" && !held.includes(typed)) {
    // Written as by hand: the field hears of it.
    document.execCommand("insertText", false, typed);
  }
}

/** True for the address of a page that makes something new, such as `/automations/new` or `/workspace/new-skill`. */
export const isOfNewThing = (path: string): boolean => /\/new(-[a-z]+)?$/.test(path);

/** The page of a chat, and of one that is to begin, stays while people go from chat to chat. */
const isChat = (path: string): boolean => path === "/" || path.startsWith("/c/");

/** True where a page comes whose first field is written in at once: that of something new, or the composer. */
export const beginsInField = (path: string, from: string): boolean =>
  isOfNewThing(path) || (path === "/" && !isChat(from));

/** A keyboard on the screen would cover the page. */
const isTouch = (): boolean => matchMedia("(pointer: coarse)").matches;
