import { describe, expect, it } from "vitest";
import { createFrameReader } from "./frames.ts";

const chunk = { choices: [{ index: 0, delta: { content: "a: {b} data: ü" } }] };
const line = `data: ${JSON.stringify(chunk)}`;

/** What comes of these events, in order, without what says nothing. */
function read(...events: unknown[]) {
  const reader = createFrameReader();
  return events.map(reader).filter((frame) => frame !== undefined);
}

describe("what clients emit on a channel", () => {
  it.each([
    ["a line", [line], [{ item: chunk }]],
    ["a line with its end", [`${line}\r\n`], [{ item: chunk }]],
    ["a line without its name", [JSON.stringify(chunk)], [{ item: chunk }]],
    ["an object", [chunk], [{ item: chunk }]],
    ["the end", [line, "data: [DONE]", { done: true }], [{ item: chunk }, "end"]],
    ["an object that is not done", [{ done: false, choices: [] }], [{ item: { done: false, choices: [] } }]],
    [
      "comments, names and blank lines",
      [": ping", "event: x", "", line, ": pong", line],
      [{ item: chunk }, { item: chunk }],
    ],
    ["values that are no chunk", [null, 5, [chunk], "data: 5", "data: null", line], [{ item: chunk }]],
    ["a line that never ends", ["data: {", line], [{ item: chunk }]],
  ])("%s", (_name, events: unknown[], expected: unknown[]) => {
    expect(read(...events)).toEqual(expected);
  });

  it("a line is put together wherever it was cut", () => {
    for (let at = 1; at < line.length; at++) {
      expect(read(line.slice(0, at), line.slice(at), line)).toEqual([{ item: chunk }, { item: chunk }]);
    }
    expect(read(line.slice(0, 3), line.slice(3, 20), line.slice(20))).toEqual([{ item: chunk }]);
  });

  it("a key that would become a prototype is not taken", () => {
    expect(read('data: {"__proto__": {"choices": []}}', line)).toEqual([{ item: chunk }]);
  });

  it("a line that is longer than any chunk is given up", () => {
    const long = `data: {"text": "${"x".repeat(5 * 1024 * 1024)}`;
    expect(read(long, '"}', line)).toEqual([{ item: chunk }]);
  });
});
