import type { Route } from "./find-route.ts";

/**
 * The route that is shown next. The list of pages is read again whenever a setting changes: a page whose address says the
 * same as before must not begin again, with what is typed into it.
 */
export function followRoute(before: Route | undefined, next: Route | undefined): Route | undefined {
  if (!before || !next || before.page.id !== next.page.id || !isAlike(before.params, next.params)) {
    return next;
  }
  return isAlike(before.page, next.page) ? before : { page: next.page, params: before.params };
}

const isAlike = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);
