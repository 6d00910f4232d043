import { type Setting, toLabel } from "./setting.ts";

/** A setting with the text that it is found by. */
export interface Findable {
  readonly setting: Setting;
  readonly label: string;
  readonly text: string;
}

/** Prepares a search over all settings: by name, variable, key, plugin and sentence, also in the language of now. */
export function toFindable(
  settings: readonly Setting[],
  translate: (text: string) => string = (text) => text,
): readonly Findable[] {
  return settings.map((setting) => {
    const label = toLabel(setting.name);
    const { name, key, owner_title: owner, text } = setting;
    return {
      setting,
      label,
      text: [label, name, key ?? "", owner, text, translate(text)].join("\n").toLowerCase(),
    };
  });
}

/** The settings that hold every word of a query; those whose name begins with it come first. */
export function findSettings(all: readonly Findable[], query: string): readonly Setting[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = all.filter(({ text }) => words.every((word) => text.includes(word)));
  const rank = ({ label, setting }: Findable): number => {
    const names = [label.toLowerCase(), setting.name.toLowerCase()];
    return names.some((name) => name.startsWith(wanted))
      ? 0
      : names.some((name) => name.includes(wanted))
        ? 1
        : 2;
  };
  return found.toSorted((a, b) => rank(a) - rank(b)).map(({ setting }) => setting);
}
