import { describe, expect, it } from "vitest";
import { type SseEvent, SseParser } from "./sse-parser.ts";

const hardLimit = 1000;

/** Feeds the text in pieces of `size` bytes, taking events as they become complete. */
function parse(text: string, size: number, softLimit?: number): { events: SseEvent[]; dropped: number } {
  const parser = new SseParser({ softLimit, hardLimit });
  const bytes = Buffer.from(text);
  const events: SseEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    parser.push(bytes.subarray(at, at + size));
    events.push(...takeAll(parser));
  }
  parser.end();
  events.push(...takeAll(parser));
  return { events, dropped: parser.dropped };
}

function takeAll(parser: SseParser): SseEvent[] {
  const events: SseEvent[] = [];
  while (parser.hasMore) {
    events.push(...parser.take(2));
  }
  return events;
}

const cases: [name: string, text: string, data: string[]][] = [
  ["plain events", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["no blank behind the colon", "data:a\n\n", ["a"]],
  ["only the first blank is taken off", "data:  a \n\n", [" a "]],
  ["CRLF line ends", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["CR line ends", "data: a\rdata: b\r\r\rdata: c\r\r", ["a\nb", "c"]],
  ["line ends of all kinds", "data: a\r\n\rdata: b\n\r\ndata: c\r\r\n", ["a", "b", "c"]],
  ["several data lines", "data: a\ndata: b\ndata:\ndata: c\n\n", ["a\nb\n\nc"]],
  ["comments and other fields", ": ping\n\nid: 7\nretry: 10\ndata: a\n\n: bye\n", ["a"]],
  ["characters of two to four bytes", "data: Grüße 世界 🌍\n\ndata: é\n\n", ["Grüße 世界 🌍", "é"]],
  ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
  ["no blank line at the end", "data: a\n\ndata: b", ["a", "b"]],
  ["blank lines in a row", "\n\n\ndata: a\n\n\n\n\ndata: b\n\n", ["a", "b"]],
  ["a bare line of JSON", '{"error":"x"}\n\n', ['{"error":"x"}']],
  ["nothing at all", "", []],
];

describe("splitting a body into events", () => {
  for (const [name, text, data] of cases) {
    for (const size of [1, 2, 3, 5, 7, 64, 10_000]) {
      it(`${name}, in pieces of ${size} bytes`, () => {
        expect(parse(text, size).events.map((event) => event.data)).toEqual(data);
      });
    }
  }

  it("names events", () => {
    const { events } = parse("event: error\ndata: a\n\ndata: b\n\n", 4);
    expect(events).toEqual([
      { data: "a", name: "error" },
      { data: "b", name: "" },
    ]);
  });

  it("hands out at most as many events as asked for", () => {
    const parser = new SseParser({ hardLimit });
    parser.push(Buffer.from("data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4"));
    expect(parser.take(2).map((event) => event.data)).toEqual(["1", "2"]);
    expect(parser.hasMore).toBe(true);
    parser.push(Buffer.from("4\n\n"));
    expect(parser.take(9).map((event) => event.data)).toEqual(["3", "44"]);
    expect(parser.hasMore).toBe(false);
  });
});

describe("limits of one event", () => {
  const long = "x".repeat(101);
  for (const size of [1, 50, 10_000]) {
    it(`drops what exceeds the soft limit and goes on, in pieces of ${size} bytes`, () => {
      const { events, dropped } = parse(
        `data: a\n\ndata: ${long}\n\ndata: b\ndata: ${long}\n\ndata: c\n\n`,
        size,
        100,
      );
      expect(events.map((event) => event.data)).toEqual(["a", "c"]);
      expect(dropped).toBe(2);
    });

    it(`keeps what just fits, in pieces of ${size} bytes`, () => {
      const fits = `${"é".repeat(50)}`;
      expect(parse(`data: ${fits}\n\n`, size, 100).events.map((event) => event.data)).toEqual([fits]);
    });

    it(`gives the stream up beyond the hard limit, in pieces of ${size} bytes`, () => {
      const endless = "y".repeat(hardLimit + 10);
      expect(() => parse(`data: ${endless}\n\n`, size)).toThrow("more than 1000 bytes");
      expect(() => parse(`data: ${endless}`, size, 100)).toThrow("more than 1000 bytes");
      expect(() => parse(`: ${endless}`, 7)).toThrow("more than 1000 bytes");
    });
  }

  it("keeps little of a line that is to be dropped", () => {
    const parser = new SseParser({ softLimit: 10, hardLimit: 1e9 });
    const piece = Buffer.alloc(65_536, "x");
    const before = process.memoryUsage().arrayBuffers;
    parser.push(Buffer.from("data: "));
    for (let n = 0; n < 2000; n++) {
      parser.push(piece);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000);
    parser.push(Buffer.from("\n\ndata: on\n\n"));
    expect(parser.take(9)).toEqual([{ data: "on", name: "" }]);
  });
});
