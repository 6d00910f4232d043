import { expect, it } from "vitest";
import { withModel } from "./model-text.ts";

it.each([
  ['{"model":"a","n":1.0}', '{"model":"up/b","n":1.0}'],
  ['{ "n" : 1e2, "model"\n:\t"a" }', '{ "n" : 1e2, "model"\n:\t"up/b" }'],
  ['{"messages":[{"model":"x"}],"model":"a"}', '{"messages":[{"model":"x"}],"model":"up/b"}'],
  ['{"x":"\\"model\\":\\"a\\"","model":"a"}', '{"x":"\\"model\\":\\"a\\"","model":"up/b"}'],
  ['{"x":"ends with \\\\","model":"a"}', '{"x":"ends with \\\\","model":"up/b"}'],
  ['{"x":["model","model"],"model":"a"}', '{"x":["model","model"],"model":"up/b"}'],
  ['{"x":"model","model":"a"}', '{"x":"model","model":"up/b"}'],
  ['{"model":"first","model":"last"}', '{"model":"up/b","model":"up/b"}'],
  [
    '{"\\u006dodel":"first","Model":"other","model":"a"}',
    '{"\\u006dodel":"up/b","Model":"up/b","model":"up/b"}',
  ],
  ['{"model":"a \\" b","y":{"model":"z"}}', '{"model":"up/b","y":{"model":"z"}}'],
])("changes nothing but the model of %s", (text, expected) => {
  expect(withModel(text, "up/b")).toBe(expected);
});

it("refuses a second model that is no text", () => {
  expect(() => withModel('{"model":["x"],"model":"a"}', "b")).toThrow();
});

it("takes a long text in its stride", () => {
  const text = JSON.stringify({ messages: ["x".repeat(5_000_000), '\\"'.repeat(500_000)], model: "a" });
  const started = process.cpuUsage();
  expect(withModel(text, "b")).toBe(text.replace('"model":"a"', '"model":"b"'));
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500);
});
