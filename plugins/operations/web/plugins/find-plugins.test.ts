import { expect, test } from "vitest";
import { findPlugins, type Plugin, toDisabledLine } from "./find-plugins.ts";

const plugin = (id: string, more: Partial<Plugin> = {}) =>
  ({ id, title: id, state: "on", folder: null, routes: [], ...more }) as unknown as Plugin;
const mill = plugin("mill", {
  routes: [{ method: "GET", path: "/api/v1/stones", access: "user", summary: "List stones" }],
});
const brook = plugin("brook", { state: "disabled" });
const guest = plugin("guest", { state: "broken", folder: "/srv/plugins/guest" });
const all = [mill, brook, guest];

test("words find plugins by all that they bring", () => {
  expect(findPlugins(all, { query: "LIST /stones", choice: "all" })).toEqual([mill]);
  expect(findPlugins(all, { query: "", choice: "running" })).toEqual([mill]);
  expect(findPlugins(all, { query: "", choice: "left-out" })).toEqual([brook, guest]);
  expect(findPlugins(all, { query: "", choice: "foreign" })).toEqual([guest]);
});

test("the line to set keeps what is left out already", () => {
  expect(toDisabledLine(["brook"], { add: "mill" })).toBe("PLUGINS_DISABLED=brook,mill");
  expect(toDisabledLine(["brook", "mill"], { remove: "brook" })).toBe("PLUGINS_DISABLED=mill");
  expect(toDisabledLine(["brook"], { add: "mill", remove: "brook" })).toBe("PLUGINS_DISABLED=mill");
});
