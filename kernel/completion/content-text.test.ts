import { expect, it } from "vitest";
import { toRequestJson, withContentOf, withContentText } from "./content-text.ts";

const long = `${'Grüße, "Wörter"\n und 世界 🌍 \u0001'.repeat(20_000)}`;
/** As a database might write it. */
const written = Buffer.from(JSON.stringify(long).replaceAll("ü", "\\u00fc"));

it("puts a long body together from texts that are known", () => {
  const [first, second] = [
    withContentText({ role: "user", content: long }, written),
    withContentText({ content: "", name: "n" }, Buffer.from('""')),
  ];
  const messages = [
    { role: "system", content: "S" },
    first,
    second,
    { role: "user", content: [{ type: "text" }] },
  ];
  const body = { model: "m", gone: undefined, messages, stream: true };
  const json = toRequestJson(body);
  expect(JSON.parse(String(json))).toEqual(JSON.parse(JSON.stringify(body)));
  expect(String(json)).toContain("Gr\\u00fc");
  expect(JSON.parse(String(toRequestJson({ messages })))).toEqual({ messages });
});

it("keeps to a message's own content where another one was put in its place", () => {
  const stored = withContentText({ content: long }, written);
  const same = withContentOf({ role: "user", content: long }, stored);
  const other = withContentOf({ role: "user", content: "short" }, stored);
  const changed = { ...same, content: "changed" };
  const messages = [same, other, changed];
  expect(JSON.parse(String(toRequestJson({ messages })))).toEqual({ messages });
  expect(() => {
    (same as { content: string }).content = "changed in place";
  }).toThrow(TypeError);
});
