import type { PageEntry } from "../kit/stores/session.svelte.ts";
import { matchPath } from "../kit/stores/router.svelte.ts";

export interface Route {
  readonly page: PageEntry;
  readonly params: Readonly<Record<string, string>>;
}

/** The first page of the section whose name is the address, such as `/settings`. */
export function firstPageOf(path: string, pages: readonly PageEntry[]): PageEntry | undefined {
  return pages.find(({ place }) => path === `/${place}` && place !== "main" && place !== "hidden");
}

/** The page at an address; one with fixed words wins over one with named segments. */
export function findRoute(path: string, pages: readonly PageEntry[]): Route | undefined {
  const found = pages.flatMap((page) => {
    const params = matchPath(page.path, path);
    return params ? [{ page, params }] : [];
  });
  return found.toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0];
}
