import { expect, test } from "vitest";
import { fillIn, knownIn, missingIn, toVariables } from "./variables.ts";

test("a text declares inputs with types, once each and in order", () => {
  const text = `{{topic}} {{tone | select:options=["formal","a: b"]:default="formal"}} {{ topic | textarea:placeholder="Say: what?":required}}`;
  expect(toVariables(text)).toEqual([
    { name: "topic", variable: { type: "textarea", placeholder: "Say: what?", required: true } },
    { name: "tone", variable: { type: "select", options: ["formal", "a: b"], default: "formal" } },
  ]);
  expect(toVariables("{{n | number:min=1:max=10}}")[0]?.variable).toEqual({
    type: "number",
    min: 1,
    max: 10,
  });
});

test("values, defaults and nothing take the place of inputs, and braces that declare nothing stay", () => {
  const text = `{{a}}/{{b | text:default="two"}}/{{c}}/{{#each}}/{{CURRENT_DATE}}`;
  expect(fillIn(text, { a: "$& {{b}}", CURRENT_DATE: "2026-01-02" })).toBe(
    "$& {{b}}/two//{{#each}}/2026-01-02",
  );
  expect(knownIn(text)).toEqual(["CURRENT_DATE"]);
});

test("a required input without a value is missing", () => {
  const text = `{{a | text:required}}{{b | text:required:default="x"}}{{c}}`;
  expect(missingIn(text, {})).toEqual(["a"]);
  expect(missingIn(text, { a: " " })).toEqual(["a"]);
  expect(missingIn(text, { a: "y" })).toEqual([]);
});

test("unclosed quotes and brackets take no time", () => {
  const started = process.cpuUsage();
  toVariables(`{{a | ${'"['.repeat(900)}}}`.repeat(50));
  expect(process.cpuUsage(started).user).toBeLessThan(500_000);
});
