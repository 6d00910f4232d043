import type { WebPage } from "../service.ts";

export interface PageCache {
  get(key: string): WebPage | undefined;
  /** Kept for `seconds`; 0 keeps nothing. */
  set(key: string, page: WebPage, seconds: number): void;
}

const mostPages = 200;
/** Characters of all pages together. */
const mostSize = 20_000_000;

/** Keeps the pages that were loaded last for a short time, within a bound. */
export function createPageCache(now: () => number = Date.now): PageCache {
  const pages = new Map<string, { readonly page: WebPage; readonly until: number }>();
  let size = 0;
  const drop = (key: string) => {
    size -= pages.get(key)?.page.content.length ?? 0;
    pages.delete(key);
  };
  return {
    get(key) {
      const kept = pages.get(key);
      if (kept && kept.until <= now()) {
        drop(key);
        return undefined;
      }
      return kept?.page;
    },
    set(key, page, seconds) {
      drop(key);
      if (seconds <= 0 || page.content.length > mostSize) {
        return;
      }
      pages.set(key, { page, until: now() + seconds * 1000 });
      size += page.content.length;
      for (const oldest of pages.keys()) {
        if (pages.size <= mostPages && size <= mostSize) {
          break;
        }
        drop(oldest);
      }
    },
  };
}
