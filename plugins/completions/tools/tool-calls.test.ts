import { describe, expect, it } from "vitest";
import { defineTool } from "#kernel/tools/tool.ts";
import { parseToolCalls } from "./tool-calls.ts";

const define = (name: string, parameters: Record<string, unknown>) =>
  defineTool({ id: name, spec: { name, description: name, parameters }, run: async () => name });
const tools = [
  define("weather", {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", maximum: 10 } },
    required: ["city"],
  }),
  define("time", { type: "object", properties: {} }),
  define("odd", { type: "object", properties: { x: { $ref: "#/nowhere" } } }),
];
const berlin = { name: "weather", parameters: { city: "Berlin" } };
const read = (text: string) =>
  parseToolCalls(text, tools).map(({ tool, parameters }) => [tool.spec.name, parameters]);

describe("what a task model answers", () => {
  it.each([
    ["a list of calls", { tool_calls: [berlin, { name: "time", parameters: {} }] }],
    ["calls without parameters", { tool_calls: [berlin, { name: "time" }] }],
    ["a call of an unknown tool besides", { tool_calls: [{ name: "rm" }, berlin, { name: "time" }] }],
  ])("%s", (_name, answer) => {
    expect(read(JSON.stringify(answer))).toEqual([
      ["weather", { city: "Berlin" }],
      ["time", {}],
    ]);
  });

  it.each([
    ["one bare call", JSON.stringify(berlin)],
    ["a fence and talk around it", `Sure!\n\`\`\`json\n${JSON.stringify({ tool_calls: [berlin] })}\n\`\`\``],
    ["parameters nobody knows", JSON.stringify({ ...berlin, parameters: { city: "Berlin", evil: 1 } })],
  ])("%s", (_name, text) => {
    expect(read(text)).toEqual([["weather", { city: "Berlin" }]]);
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "I would call weather for Berlin."],
    ["broken JSON", '{"tool_calls": [{"name": "weather"'],
    ["an empty list", '{"tool_calls": []}'],
    ["a list that is none", '{"tool_calls": "weather"}'],
    ["an unknown tool", '{"name": "rm", "parameters": {}}'],
    ["a name that is none", '{"name": {"a": 1}, "parameters": {}}'],
    ["a missing parameter", '{"name": "weather", "parameters": {"days": 1}}'],
    ["a parameter of another type", '{"name": "weather", "parameters": {"city": 7}}'],
    ["a parameter out of range", '{"name": "weather", "parameters": {"city": "B", "days": 99}}'],
    ["parameters that are no object", '{"name": "weather", "parameters": ["Berlin"]}'],
  ])("%s means no calls", (_name, text) => {
    expect(read(text)).toEqual([]);
  });

  it("leaves a schema it cannot read to the tool, and ends a list without end", () => {
    expect(read('{"name": "odd", "parameters": {"x": 1}}')).toEqual([["odd", { x: 1 }]]);
    const calls = Array.from({ length: 500 }, () => ({ name: "time" }));
    expect(read(JSON.stringify({ tool_calls: calls })).length).toBe(16);
  });
});
