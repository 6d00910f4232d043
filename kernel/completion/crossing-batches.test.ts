import { expect, it } from "vitest";
import type { Chunk } from "./chunk.ts";
import { CrossingBatches } from "./crossing-batches.ts";

const toChunk = (content: string | null, more: object = {}): Chunk =>
  ({
    id: "c",
    created: 1,
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...more,
  }) as Chunk;

it("hands over the text alone of a chunk that is like the one before", () => {
  const batches = new CrossingBatches();
  const first = batches.write([toChunk('a\t"')]);
  expect(first).toBe(
    `!{"id":"c","created":1,"choices":[{"index":0,"delta":{"content":\t"a\\t\\""\t},"finish_reason":null}]}`,
  );
  expect(batches.read(`*"A"`)).toEqual([toChunk("A")]);
  expect(batches.write([toChunk("b\n")])).toBe(`*"b\\n"`);
  expect(batches.read(`*"B"`)).toEqual([toChunk("B")]);
  // Each is its own object.
  const [one, other] = [batches.read(`*"B"`)[0]!, batches.read(`*"B"`)[0]!];
  expect(one.choices![0]!.delta).not.toBe(other.choices![0]!.delta);
});

it("hands over whole what is not, and tells anew what it is to be compared with", () => {
  const batches = new CrossingBatches();
  batches.read(batches.write([toChunk("a")]).replace(/^.*$/, "[]"));
  const two = [toChunk("b"), toChunk("c")];
  expect(batches.write(two)).toBe(JSON.stringify(two));
  expect(batches.write([toChunk(null)])).toBe(JSON.stringify([toChunk(null)]));
  expect(batches.write([])).toBe("[]");
  expect(batches.write([toChunk("d")])).toBe(`*"d"`);
  // Learned within a batch that went whole: the other side does not know of it.
  const changed = [toChunk("e", { id: "x" }), toChunk("f", { id: "x" })];
  expect(batches.write(changed)).toBe(JSON.stringify(changed));
  const next = batches.write([toChunk("g", { id: "x" })]);
  expect(next).toMatch(/^!.*"x".*\t"g"\t/);
  expect(batches.read(`*"G"`)).toEqual([toChunk("G", { id: "x" })]);
});

it("tells it again where a batch passed the other side by", () => {
  const batches = new CrossingBatches();
  const pass = (chunk: Chunk) => {
    const written = batches.write([chunk]);
    expect(written[0]).toBe("!");
    expect(batches.read(written)).toEqual([chunk]);
  };
  pass(toChunk('a\t"'));
  pass(toChunk("b"));
  batches.write([toChunk("c")]);
  batches.read(`*"C"`);
  pass(toChunk("d", { id: "x" }));
  // Those on the other side are still like the one before.
  batches.write([toChunk("e"), toChunk("f")]);
  expect(batches.read(`*"EF"`)).toEqual([toChunk("EF")]);
});

it("gives up on streams whose chunks are never alike", () => {
  const batches = new CrossingBatches();
  const written = Array.from({ length: 20 }, (_, n) => batches.write([toChunk("a", { created: n })])[0]);
  expect(written.join("")).toMatch(/^!+\[+$/);
  expect(batches.read(batches.write([toChunk("a", { created: 3 })]))).toEqual([toChunk("a", { created: 3 })]);
});

it.each(["*1", "*", '*"a', "[1]", "[null]", "null", '"x"', "{}", "!a\tb\tc"])(
  "reads no nonsense: %s",
  (answer) => {
    const batches = new CrossingBatches();
    batches.write([toChunk("a")]);
    expect(() => batches.read(answer)).toThrow();
  },
);
