import { isShortcut, isTyping } from "./keys.ts";

/** A key that does something while it is registered. */
export interface Shortcut {
  /** Such as "Mod+Shift+O"; in a sequence with a space between, as in "G C". */
  readonly keys: string;
  readonly title: string;
  readonly group: string;
  /** While it answers false, the key is the browser's own. */
  isAvailable?(): boolean;
  run(event: KeyboardEvent): unknown;
}

const sequenceMs = 1000;

/** Keys that begin a text; Space scrolls, and the question mark asks for help. */
const beginsText = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  [...key].length === 1 && !/[\s?]/.test(key) && !ctrlKey && !metaKey && !altKey;

/** Every shortcut of now; the help sheet lists them, one listener of the shell runs them. */
class Shortcuts {
  all = $state.raw<readonly Shortcut[]>([]);
  /**
   * The same list, not followed: an effect that adds must not run again by it, and where effects end, followed values
   * are read as they were before.
   */
  #kept: readonly Shortcut[] = [];
  /** The field that takes what is typed while nothing on the page is chosen. */
  #fields: readonly (() => HTMLElement | undefined)[] = [];
  /** What the pointer gave the focus to: the keys of a message act on one that was chosen by keys. */
  #pressed: EventTarget | null = null;
  #begun: { key: string; at: number } | undefined;

  constructor() {
    let isDown = false;
    const watch = { capture: true };
    addEventListener("pointerdown", () => (isDown = true), watch);
    addEventListener("pointerup", () => (isDown = false), watch);
    addEventListener("pointercancel", () => (isDown = false), watch);
    addEventListener("focusin", ({ target }) => (this.#pressed = isDown ? target : null), watch);
  }

  /** True unless the keyboard chose something whose keys are shortcuts, which `data-keys` marks. */
  get #isAtRest(): boolean {
    const active = document.activeElement;
    return active === this.#pressed || !active?.closest("[data-keys]");
  }

  /** Adds shortcuts until the returned function is called; the newest of equal keys wins. */
  add(...shortcuts: readonly Shortcut[]): () => void {
    this.#keep([...shortcuts, ...this.#kept]);
    return () => this.#keep(this.#kept.filter((one) => !shortcuts.includes(one)));
  }

  /** Has keys that begin a text typed into a field, until the returned function is called. */
  typeInto(field: () => HTMLElement | undefined): () => void {
    this.#fields = [field, ...this.#fields];
    return () => (this.#fields = this.#fields.filter((one) => one !== field));
  }

  #keep(shortcuts: readonly Shortcut[]): void {
    this.#kept = shortcuts;
    this.all = shortcuts;
  }

  /** Runs what the event means. Keys without Ctrl or Cmd rest while somebody writes or a dialog is open. */
  handle(event: KeyboardEvent): void {
    if (event.isComposing || event.defaultPrevented) {
      return;
    }
    const isQuiet = isTyping(event) || document.querySelector('[role="dialog"], [role="menu"]') !== null;
    const field = !isQuiet && beginsText(event) && this.#isAtRest ? this.#fields[0]?.() : undefined;
    if (field) {
      // The key is written where the focus is once it has been handled.
      field.focus();
      return;
    }
    const found = this.#kept.find((one) => {
      const needsRest = !/Mod|Escape/.test(one.keys);
      const isMeant = this.#ends(one.keys, event) || isShortcut(event, one.keys);
      return isMeant && !(needsRest && isQuiet) && (one.isAvailable?.() ?? true);
    });
    this.#begun =
      isQuiet || event.ctrlKey || event.metaKey
        ? undefined
        : { key: event.key.toUpperCase(), at: event.timeStamp };
    if (found) {
      event.preventDefault();
      this.#begun = undefined;
      found.run(event);
    }
  }

  #ends(keys: string, event: KeyboardEvent): boolean {
    const [first, second] = keys.split(" ");
    const begun = this.#begun;
    return (
      second !== undefined &&
      begun !== undefined &&
      begun.key === first &&
      event.timeStamp - begun.at < sequenceMs &&
      event.key.toUpperCase() === second
    );
  }
}

export const shortcuts = new Shortcuts();
