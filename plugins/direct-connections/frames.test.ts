import { describe, expect, it } from "vitest";
import { createFrameReader } from "./frames.ts";

const chunk = { choices: [{ index: 0, delta: { content: "a: {b} data: ü" } }] };
const line = `data: ${JSON.stringify(chunk)}`;

/** What comes of these events, in order, without what says nothing. */
function read(...events: unknown[]) {
  const reader = createFrameReader();
  return events.flatMap(reader);
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

  it("several lines at a time, cut anywhere", () => {
    const text = `event: a\n${line}\n\n: ping\r\n${line}\r\n\r\n${line}`;
    expect(read(text)).toEqual([{ item: chunk }, { item: chunk }, { item: chunk }]);
    for (let at = 1; at < text.length; at += 7) {
      expect(read(text.slice(0, at), text.slice(at))).toEqual([
        { item: chunk },
        { item: chunk },
        { item: chunk },
      ]);
    }
  });

  it("an end in the middle of an event is a failure", () => {
    expect(() => read(line.slice(0, 20), { done: true })).toThrow("middle of an event");
    expect(read("data: ", { done: true })).toEqual(["end"]);
    expect(read("data: [DONE]", { done: true })).toEqual(["end"]);
  });

  it("a line that is longer than any chunk is a failure", () => {
    const long = `data: {"text": "${"x".repeat(5 * 1024 * 1024)}`;
    expect(() => read(long)).toThrow("too long");
    const half = `data: {"text": "${"x".repeat(2.5 * 1024 * 1024)}`;
    expect(() => read(half, half.slice(6))).toThrow("too long");
    expect(read(half, '"}')).toHaveLength(1);
  });

  it("a line that looks whole again and again is read a few times, not each time", () => {
    const reader = createFrameReader();
    reader(`data: {"a":[${'"},'.repeat(1024 * 1024)}`);
    const started = process.cpuUsage();
    let pieces = 0;
    expect(() => {
      for (; pieces < 1000; pieces++) {
        reader("}");
      }
    }).toThrow("too many pieces");
    expect(pieces).toBeLessThan(10);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000);
    // Pieces that cannot be the end cost nothing.
    const other = createFrameReader();
    other(`data: {"a":[${"1,".repeat(1024 * 1024)}`);
    for (let n = 0; n < 10_000; n++) {
      other("1,");
    }
    expect(other("1]}")).toHaveLength(1);
  });
});
