import { expect, test } from "vitest";
import { findOptions } from "./find-options.ts";

const zones = ["America/Sao Paulo", "Europe/Berlin", "Europe/Zürich", "Asia/Beirut"].map((label) => ({
  value: label.replaceAll(" ", "_"),
  label,
}));
const labels = (query: string) => findOptions(zones, query).map(({ label }) => label);

test("options are found by words in any order, with or without accents", () => {
  expect(labels("")).toHaveLength(4);
  expect(labels("zurich")).toEqual(["Europe/Zürich"]);
  expect(labels("paulo america")).toEqual(["America/Sao Paulo"]);
  expect(labels("Sao_Paulo")).toEqual(["America/Sao Paulo"]);
  expect(labels("nowhere")).toEqual([]);
});

test("options of which a word begins with the query come first", () => {
  expect(labels("be")).toEqual(["Europe/Berlin", "Asia/Beirut"]);
  expect(labels("er")[0]).toBe("America/Sao Paulo");
});
