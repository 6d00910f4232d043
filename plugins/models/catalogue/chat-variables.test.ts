import { expect, test } from "vitest";
import { toChatVariables } from "./chat-variables.ts";

test.each<[string, unknown]>([
  ["No variables {{USER_NAME}}", undefined],
  ["Speak {{chat.variables.language}}.", { language: { type: "text" } }],
  [
    'In {{ chat.variables.tone | select:options=["calm: low","loud"]:default="calm: low":required }}',
    { tone: { type: "select", options: ["calm: low", "loud"], default: "calm: low", required: true } },
  ],
  ["{{chat.variables.n | number:min=1:max=10}}", { n: { type: "number", min: 1, max: 10 } }],
  ["{{chat.variables.a}} {{chat.variables.a | date}}", { a: { type: "date" } }],
  ["{{chat.variables.a | textarea}} {{chat.variables.a | date}}", { a: { type: "textarea" } }],
  ["{{chat.variables.}} {{chat.variables.9}} {{chat.variables.x", undefined],
  ["{{chat.variables.a | bad type:label='One: two'}}", { a: { type: "text", label: "One: two" } }],
])("%s", (prompt, expected) => {
  expect(toChatVariables(prompt)).toEqual(expected);
});

test("a prompt made to be slow is read in a moment", () => {
  const started = process.cpuUsage();
  toChatVariables("{{chat.variables.a |".repeat(20_000));
  toChatVariables(`{{chat.variables.a |${" ".repeat(100_000)}`);
  toChatVariables(`{{${" ".repeat(200_000)}chat.variables.`);
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(1_000);
});
