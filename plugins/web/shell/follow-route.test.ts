import { expect, test } from "vitest";
import type { Route } from "./find-route.ts";
import { followRoute } from "./follow-route.ts";

const routeOf = (id: string, title = "Notes"): Route => ({
  page: {
    id: "notes.note",
    plugin: "notes",
    path: "/notes/:id",
    title,
    icon: null,
    place: "hidden",
    group: null,
    order: 1,
    module: null,
  } as Route["page"],
  params: { id },
});

test("a list of pages that is read again leaves the route as it is", () => {
  const before = routeOf("1");
  expect(followRoute(before, routeOf("1"))).toBe(before);
});

test("a page whose entry changed keeps what its address says", () => {
  const before = routeOf("1");
  const next = followRoute(before, routeOf("1", "Papers"));
  expect(next?.page.title).toBe("Papers");
  expect(next?.params).toBe(before.params);
});

test("another page is another route, also with the same address parts", () => {
  const other = { ...routeOf("1"), page: { ...routeOf("1").page, id: "files.file" } };
  expect(followRoute(routeOf("1"), other)).toBe(other);
  expect(followRoute(routeOf("1"), routeOf("2"))?.params).toEqual({ id: "2" });
  expect(followRoute(routeOf("1"), undefined)).toBeUndefined();
});
