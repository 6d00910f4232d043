const isMac = typeof navigator === "object" && /Mac|iPhone|iPad/.test(navigator.platform);

const names: Readonly<Record<string, string>> = {
  Alt: isMac ? "⌥" : "Alt",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "↵",
};

/** "Mod+Shift+O" → what is printed on the keys of this machine, in the language that `t` speaks. */
export function keyNames(shortcut: string, t: (text: string) => string): string[] {
  const modifiers: Readonly<Record<string, string>> = {
    Mod: isMac ? "⌘" : t("Ctrl"),
    Shift: isMac ? "⇧" : t("Shift"),
  };
  return shortcut.split("+").map((key) => modifiers[key] ?? names[key] ?? key);
}

/** Signs that a key gives with Shift, by the one that names it. */
const unshifted: Readonly<Record<string, string>> = { ":": ";" };

/** True when the event is the shortcut; `Mod` is the command key on a Mac, Ctrl elsewhere. */
export function isShortcut(event: KeyboardEvent, shortcut: string): boolean {
  const keys = shortcut.split("+");
  const key = keys.at(-1) ?? "";
  const wantsShift = keys.includes("Shift");
  // A sign such as "?" or "[" needs Shift or AltGr on some keyboards and not on others.
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  const isThird = isSign && (event.getModifierState("AltGraph") || (isMac && event.altKey));
  const hasMod = isMac ? event.metaKey : event.ctrlKey && !isThird;
  const pressed = wantsShift ? (unshifted[event.key] ?? event.key) : event.key;
  return (
    pressed.toLowerCase() === key.toLowerCase() &&
    hasMod === keys.includes("Mod") &&
    (event.altKey && !isThird) === keys.includes("Alt") &&
    (isSign || event.shiftKey === wantsShift)
  );
}

/** Elements in which keys write, or look for an entry by its first letters. */
const typedInto = [
  "input, textarea, select",
  '[role="textbox"], [role="searchbox"], [role="combobox"], [role="spinbutton"]',
  '[role="listbox"], [aria-haspopup="listbox"]',
].join(", ");

/**
 * True while the event belongs to a field in which somebody writes, or to an input method. Fields inside of shadow
 * roots count, whose events name the host as their target.
 */
export function isTyping(event: KeyboardEvent): boolean {
  // Older engines tell the keys of an input method by their code alone.
  return event.isComposing || event.keyCode === 229 || event.composedPath().some(isField);
}

const isField = (part: EventTarget): boolean =>
  part instanceof HTMLElement && (part.isContentEditable || part.matches(typedInto));
