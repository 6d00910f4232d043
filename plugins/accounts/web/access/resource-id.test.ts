import { expect, test } from "vitest";
import { toResourceId } from "./resource-id.ts";

test.each([
  ["https://mill.test/c/42?x=1", "chat", "42"],
  ["https://mill.test/s/link", "chat", "link"],
  ["/workspace/models/a%2Fb", "model", "a/b"],
  [" vendor/model:7b ", "model", "vendor/model:7b"],
  ["https://mill.test/settings", "chat", "https://mill.test/settings"],
] as const)("%s as a %s is %s", (text, kind, id) => {
  expect(toResourceId(text, kind)).toBe(id);
});
