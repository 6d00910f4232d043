import { expect, it } from "vitest";
import { moveConfigs, moveKeys } from "./endpoint.ts";

it.each<[string, string[], string[], string[], string[]]>([
  [
    "move with their addresses",
    ["a", "b"],
    ["https://a", "https://b"],
    ["https://b", "https://a/"],
    ["b", "a"],
  ],
  [
    "stay away from new addresses",
    ["a", "b"],
    ["https://a", "https://b"],
    ["https://c", "https://b"],
    ["", "b"],
  ],
  [
    "belong to one of two equal addresses each",
    ["a", "b"],
    ["https://a", "https://a"],
    ["https://c", "https://a", "https://a"],
    ["", "b", "a"],
  ],
  [
    "that were there before any address keep their places",
    ["a", "b"],
    [],
    ["https://c", "https://d"],
    ["a", "b"],
  ],
  ["go to their address behind a new one", ["a"], ["https://a"], ["https://c", "https://a"], ["", "a"]],
])("keys %s", (_what, keys, before, after, expected) => {
  expect(moveKeys(keys, before, after)).toEqual(expected);
  const configs = Object.fromEntries(keys.map((key, index) => [index, { key }]));
  const kept = Object.fromEntries(expected.flatMap((key, index) => (key === "" ? [] : [[index, { key }]])));
  expect(before.length === 0 ? kept : moveConfigs(configs, before, after)).toEqual(kept);
});
