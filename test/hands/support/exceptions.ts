import type { Control } from "./controls.ts";

/** Controls that are not tried. */
interface Exception {
  readonly name: RegExp;
  readonly page?: RegExp;
  readonly kind?: Control["kind"];
  readonly why: string;
}

/** Every entry has to match a control that the sweep meets. */
export const exceptions: readonly Exception[] = [
  { name: /^Search settings$/, kind: "search-choice", why: "a search" },
  {
    name: /^Add (people and groups|a collection)$/,
    why: "a picker: it adds to the list below it and holds nothing itself",
  },
  { name: /^(Which (notes|plugins|models)|Whose|State)$/, why: "chooses what the list shows now" },
  { name: /^(Period|View|Person|Action|Kind of object|Group)$/, why: "chooses what the page shows now" },
  { name: /^Model$/, page: /pipeline/, why: "chooses what the page shows now" },
  { name: /^Rule$/, page: /automations/, why: "says the same as the field above it" },
  { name: /^How the text is shown$/, page: /notes/, why: "chooses what the page shows now" },
  { name: /^Role$/, page: /admin\/users/, why: "takes the page away from the person who visits it" },
  { name: /^What changed$/, page: /prompt/, why: "belongs to the version that is saved, not to the prompt" },
  { name: /^Default group ID$/, why: "takes the id of a group" },
  { name: /^(User permissions|Default interface settings)$/, why: "takes JSON of a shape of its own" },
];

/** Saving makes a thing, whose own page is tried: there its values are read back. */
export const isOfNewThing = (path: string): boolean => /\/new(-[a-z]+)?$/.test(path);

const used = new Set<Exception>();

/** Why a control is not tried; undefined for one that is. */
export function whyNot(path: string, control: Control): string | undefined {
  if (control.isPassing) {
    return "a search, or a form that tries something out";
  }
  if (control.isDisabled) {
    return "disabled";
  }
  if (control.type === "password") {
    return "a secret, which no page shows again";
  }
  const found = exceptions.find(
    ({ name, page, kind }) =>
      name.test(control.name) && (page?.test(path) ?? true) && (kind === undefined || kind === control.kind),
  );
  if (found) {
    used.add(found);
  }
  return found?.why;
}

/** Exceptions that no control needed. */
export const unusedExceptions = (): readonly string[] =>
  exceptions.filter((each) => !used.has(each)).map(({ name }) => String(name));
