import { afterAll, describe, expect, it } from "vitest";
import { openBench } from "../testing.ts";

const { sandbox, stream, lines } = openBench();
afterAll(() => sandbox.close());

const told: string[] = [];
sandbox.onRepeatedOverrun((id, reason) => void told.push(`${id}: ${reason}`));

const mark = "export function stream(c) { c.seen = (c.seen ?? 0) + 1; }";
/** Takes long to parse for its length. */
const slow = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => ({ [`k${at}`]: 1 })));

describe("what stream hooks are given, however long it is,", () => {
  it("ends a run whose batch cannot be read in time, and nobody else's", async () => {
    const [long, other] = [await stream([mark, mark]), await stream([mark])];
    const batch = `[{"long":${slow(78_000)}}]`;
    const answers = await Promise.all([long.push(batch), other.push('[{"n":1}]')]);
    expect(answers).toEqual([batch, '[{"n":1,"seen":1}]']);
    expect(long.failures).toEqual([
      "0: What the stream hooks were given took too long to read.",
      "1: What the stream hooks were given took too long to read.",
    ]);
    expect([await long.push('[{"n":2}]'), await other.push('[{"n":2}]')]).toEqual([
      '[{"n":2}]',
      '[{"n":2,"seen":1}]',
    ]);
    [long, other].forEach((chain) => chain.close());
  });

  it("ends a run whose context cannot be read in time, and nobody else's", async () => {
    const other = await stream([mark]);
    const long = await stream([mark, mark], { long: JSON.parse(slow(40_000)) });
    const answers = await Promise.all([long.push('[{"n":1}]'), other.push('[{"n":1}]')]);
    expect(answers).toEqual(['[{"n":1}]', '[{"n":1,"seen":1}]']);
    expect(long.failures).toHaveLength(2);
    [long, other].forEach((chain) => chain.close());
  });

  it("passes a picture by, says so once a run, and goes on", async () => {
    const chain = await stream([mark]);
    const before = lines.length;
    const picture = JSON.stringify([{ image: "A".repeat(2 ** 21) }]);
    expect(await chain.push(picture)).toBe(picture);
    expect(await chain.push(picture)).toBe(picture);
    const [line = "{}", ...others] = lines.slice(before);
    expect(others).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({
      level: "warn",
      functions: ["hook0"],
      length: picture.length - 2,
    });
    expect(await chain.push("[{}]")).toBe('[{"seen":1}]');
    expect(chain.failures).toEqual([]);
    chain.close();
  });

  it("is parsed when it is read, and refused there when it is too long", async () => {
    const source = `export function stream(c, ctx) {
      c.keys = Object.keys(ctx);
      c.same = ctx.notes === ctx.notes;
      c.notes = ctx.notes;
      try { ctx.long; } catch (error) { c.refused = error.message; }
    }`;
    const later = { notes: () => '{"a":"\\t[,"}', long: () => slow(10_000) };
    const chain = await stream([source], { id: "x" }, later);
    expect(JSON.parse(await chain.push("[{}]"))).toEqual([
      {
        keys: ["id", "notes", "long"],
        same: true,
        notes: { a: "\t[," },
        refused: "ctx.long cannot be read here: it is too long, or the run is over.",
      },
    ]);
    expect(chain.failures).toEqual([]);
    chain.close();
  });

  it("leaves nothing behind of runs that never streamed", async () => {
    for (let n = 0; n < 3; n++) {
      (await stream([mark])).close();
    }
    const chain = await stream([mark]);
    expect(await chain.push("[{}]")).toBe('[{"seen":1}]');
    chain.close();
  });
});
