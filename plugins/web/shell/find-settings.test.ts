import { expect, test } from "vitest";
import { findSettings } from "./find-settings.ts";

const page = (id: string, title: string) => ({ id, title, path: `/settings/${id}` });
const pages = [page("look", "Interface"), page("account", "Account")];
const settings = [
  { page: "look", title: "Theme", keywords: "dark light" },
  { page: "account", title: "Password", path: "/settings/account?of=password" },
  { page: "gone", title: "Theme of a page that the reader may not open" },
];
const titles = (query: string) =>
  findSettings(query, pages, settings).map(({ title, path }) => [title, path]);

test("what is typed finds pages and the settings of those that one may open", () => {
  expect(titles("ACC")).toEqual([
    ["Account", "/settings/account"],
    ["Password", "/settings/account?of=password"],
  ]);
  expect(titles("dark theme")).toEqual([["Theme", "/settings/look"]]);
  expect(titles("interface light")).toEqual([["Theme", "/settings/look"]]);
  expect(titles("theme of")).toEqual([]);
});
