import { expect, it } from "vitest";
import { providerWords } from "./provider-words.ts";

it.each([
  ["the common form", '{"error":{"message":"Too long.","type":"invalid_request_error"}}', "Too long."],
  ["a text as error", '{"error":"No such model"}', "No such model"],
  ["a list", '[{"error":{"code":400,"message":"Unknown name \\"$ref\\""}}]', 'Unknown name "$ref"'],
  ["validation", '{"detail":[{"loc":["body"],"msg":"Field required"}]}', "Field required"],
  [
    "JSON within a text, as proxies pass it on",
    JSON.stringify({ error: { message: '{"error":{"message":"Quota exceeded"}}' } }),
    "Quota exceeded",
  ],
  ["a plain text", "upstream connect error", "upstream connect error"],
])("reads %s", (_form, body, words) => {
  expect(providerWords(body)).toBe(words);
});

it.each([
  ["without words", '{"code":17,"trace":{"a":1}}'],
  ["that was cut", '{"error":{"message":"Too lo'],
  ["of an empty list", "[]"],
  ["that is a page", "<html><body>502 Bad Gateway</body></html>"],
  ["of nothing", ""],
])("shows no body %s", (_form, body) => {
  expect(providerWords(body)).toBeUndefined();
});
