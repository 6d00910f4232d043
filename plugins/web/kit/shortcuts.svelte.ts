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

/** Every shortcut of now; the help sheet lists them, one listener of the shell runs them. */
class Shortcuts {
  all = $state.raw<readonly Shortcut[]>([]);
  /**
   * The same list, not followed: an effect that adds must not run again by it, and where effects end, followed values
   * are read as they were before.
   */
  #kept: readonly Shortcut[] = [];
  #begun: { key: string; at: number } | undefined;

  /** Adds shortcuts until the returned function is called; the newest of equal keys wins. */
  add(...shortcuts: readonly Shortcut[]): () => void {
    this.#keep([...shortcuts, ...this.#kept]);
    return () => this.#keep(this.#kept.filter((one) => !shortcuts.includes(one)));
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
