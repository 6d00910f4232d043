import type { SettingEntry } from "../kit/web.ts";

/** A page of a section, with its title in the language of now. */
export interface SearchedPage {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly icon?: string | null;
}

/** A page of a section, or one setting on it, that fits what is typed. */
export interface FoundSetting {
  readonly key: string;
  readonly path: string;
  readonly title: string;
  /** The page that a setting stands on; undefined for a page itself. */
  readonly page: string | undefined;
  readonly icon: string | null;
}

/** More than anybody reads. */
const most = 40;

/** Pages, then settings, that have every typed word in their title, their keywords or the title of their page. */
export function findSettings(
  query: string,
  pages: readonly SearchedPage[],
  settings: readonly SettingEntry[],
): readonly FoundSetting[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (...texts: readonly (string | undefined)[]) => {
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = pages
    .filter(({ title }) => fits(title))
    .map(({ id, path, title, icon }) => ({ key: id, path, title, page: undefined, icon: icon ?? null }));
  const inside = settings.flatMap(({ page: id, title, keywords, path }): FoundSetting[] => {
    const page = pages.find((one) => one.id === id);
    return page && fits(title, keywords, page.title)
      ? [{ key: `${id} ${title}`, path: path ?? page.path, title, page: page.title, icon: page.icon ?? null }]
      : [];
  });
  return [...found, ...inside].slice(0, most);
}
