import { expect, test } from "vitest";
import { isShortcut, isTyping, keyNames } from "./keys.ts";

/** An event of a keyboard; `graph` is AltGr, which some systems tell as Ctrl and Alt together. */
function press(
  key: string,
  held: { ctrl?: boolean; shift?: boolean; alt?: boolean; graph?: boolean } = {},
): KeyboardEvent {
  const { ctrl = false, shift = false, alt = false, graph = false } = held;
  return {
    key,
    ctrlKey: ctrl || graph,
    altKey: alt || graph,
    shiftKey: shift,
    metaKey: false,
    getModifierState: (name: string) => name === "AltGraph" && graph,
  } as unknown as KeyboardEvent;
}

test("letters need exactly the keys that are named", () => {
  expect(isShortcut(press("j"), "J")).toBe(true);
  expect(isShortcut(press("J", { shift: true }), "J")).toBe(false);
  expect(isShortcut(press("j", { ctrl: true }), "J")).toBe(false);
  expect(isShortcut(press("f", { ctrl: true }), "Mod+F")).toBe(true);
  expect(isShortcut(press("f", { ctrl: true, alt: true }), "Mod+F")).toBe(false);
});

test("signs are known on keyboards that need Shift or AltGr for them", () => {
  expect(isShortcut(press("["), "[")).toBe(true);
  expect(isShortcut(press("[", { graph: true }), "[")).toBe(true);
  expect(isShortcut(press("[", { ctrl: true }), "[")).toBe(false);
  expect(isShortcut(press("?", { shift: true }), "?")).toBe(true);
  expect(isShortcut(press(":", { ctrl: true, shift: true }), "Mod+Shift+;")).toBe(true);
  expect(isShortcut(press(";", { ctrl: true, shift: true }), "Mod+Shift+;")).toBe(true);
  expect(isShortcut(press(":", { ctrl: true, shift: true }), "Mod+;")).toBe(false);
});

test("an input method's keys are typed, however its engine tells of them", () => {
  const event = (more: object) =>
    ({ isComposing: false, keyCode: 0, composedPath: () => [], ...more }) as unknown as KeyboardEvent;
  expect(isTyping(event({}))).toBe(false);
  expect(isTyping(event({ isComposing: true }))).toBe(true);
  expect(isTyping(event({ keyCode: 229 }))).toBe(true);
});

test("keys are named in the language of the page", () => {
  const german: Readonly<Record<string, string>> = { Ctrl: "Strg", Shift: "Umschalt" };
  const names = (shortcut: string) => keyNames(shortcut, (text) => german[text] ?? text);
  expect(names("Mod+Shift+O")).toEqual(["Strg", "Umschalt", "O"]);
  expect(names("Shift+Enter")).toEqual(["Umschalt", "↵"]);
});
