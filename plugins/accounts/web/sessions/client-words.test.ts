import { expect, test } from "vitest";
import { describeClient } from "./client-words.ts";

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  ["curl/8.5.0", "curl"],
  ["my-script", "my-script"],
  [null, "Unknown program"],
])("%s is %s", (client, words) => {
  const t = (text: string, values: Readonly<Record<string, string>> = {}) =>
    text.replaceAll(/\{(\w+)\}/g, (_hole, name: string) => values[name] ?? "");
  expect(describeClient(client, t)).toBe(words);
});
