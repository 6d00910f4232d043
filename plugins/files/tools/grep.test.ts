import { expect, it } from "vitest";
import { grep, toLineTest } from "./grep.ts";

const text = "Water in\r\nflour out\n--pre=/bin/sh\n\nWATER [wheel]\n";
const { signal } = new AbortController();
const find = async (pattern: string, ignoresCase = false, limit = 50) =>
  (await grep(text, toLineTest(pattern, { ignoresCase }), { limit, signal })).matches.map(({ line }) => line);

it.each([
  ["Water", false, [1]],
  ["water", true, [1, 5]],
  ["^w.*(in|\\])$", true, [1, 5]],
  // Case S63: an option of a command line is a text like any other.
  ["--pre=/bin/sh", false, [3]],
  // No pattern, so it is what it says.
  ["[wheel", false, [5]],
  ["mill", false, []],
])("finds %s", async (pattern, ignoresCase, lines) => {
  expect(await find(pattern, ignoresCase)).toEqual(lines);
});

it("counts all lines and keeps as many as are wanted", async () => {
  const test = toLineTest("a", { ignoresCase: false });
  const found = await grep("a\n".repeat(1000), test, { limit: 3, signal });
  expect([found.count, found.matches.map(({ line }) => line)]).toEqual([1000, [1, 2, 3]]);
});

it("stays linear for patterns that make others hang, and lets other work go on", async () => {
  const long = `${"a".repeat(400_000)}b`;
  let turns = 0;
  const other = setInterval(() => (turns += 1), 5);
  const started = performance.now();
  const found = await grep(long, toLineTest("(a+)+c|(a|aa)+d", { ignoresCase: true }), { limit: 5, signal });
  clearInterval(other);
  expect(found.count).toBe(0);
  expect(performance.now() - started).toBeLessThan(20_000);
  // None, had it held the thread: a fast machine is done after a few.
  expect(turns).toBeGreaterThan(0);
});

it("ends when it is told to", async () => {
  const over = AbortSignal.abort(new Error("stopped"));
  const slow = grep("ab\n".repeat(3_000_000), toLineTest("(a|b)+c", { ignoresCase: false }), {
    limit: 1,
    signal: over,
  });
  await expect(slow).rejects.toThrow("stopped");
});
