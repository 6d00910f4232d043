import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, it } from "vitest";
import { openBench } from "#plugins/sandbox/testing.ts";
import { report, times } from "#test/support/faults.ts";

const { sandbox, run, stream } = openBench();
afterAll(() => sandbox.close());

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Resident memory after garbage collection. */
async function settledMegabytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < 8; at++) {
    collect();
    await delay(100);
    least = Math.min(least, process.memoryUsage.rss() / 2 ** 20);
  }
  return least;
}

/** A source as an author has it, different each time, that leaves something behind in its isolate. */
const source = (n: number) =>
  `const table = Array.from({ length: 2000 }, (_, i) => ({ i, text: "entry ${n} " + i }));
   export const f = () => table.length + ${n};
   export function stream(c) { c.n = ${n}; }`;

/** Promise R26: reloads leave nothing behind. The allocator keeps pages for a while, so the least of three rounds counts. */
it("is back to its memory after many reloads of changed sources", { timeout: 300_000 }, async () => {
  const count = times(200, 1000);
  let loaded = 0;
  const reload = async () => {
    const n = loaded++;
    expect(await run(source(n), { id: "reloaded" })).toBe(2000 + n);
    const chain = await stream([source(n)]);
    expect(await chain.push("[{}]")).toBe(`[{"n":${n}}]`);
    chain.close();
  };
  const reloadMany = async (times: number) => {
    for (let n = 0; n < times; n++) {
      await reload();
    }
    sandbox.forget("reloaded");
    sandbox.forget("hook0");
    return settledMegabytes();
  };
  const before = await reloadMany(100);
  const grown: number[] = [];
  for (let round = 0; round < 3; round++) {
    grown.push((await reloadMany(count)) - before);
  }
  report("R26", `3 × ${count} reloads`, { "grown MB": Math.min(...grown), isolates: sandbox.isolates() });
  expect(Math.min(...grown)).toBeLessThan(20);
});

/** Promise R26: a function that leaks or overruns costs its own isolate, each time. */
it("is back to its memory after many overruns", async () => {
  const leak =
    "const kept = []; export function f() { for (;;) kept.push(new Array(10000).fill(kept.length)); }";
  const overrun = () => expect(run(leak, { id: "leak" })).rejects.toMatchObject({ name: "SandboxError" });
  await overrun();
  const before = await settledMegabytes();
  const count = times(10, 100);
  for (let n = 0; n < count; n++) {
    await overrun();
    expect(await run("export const f = () => 1", { owner: "ben" })).toBe(1);
  }
  const grown = (await settledMegabytes()) - before;
  report("R26", `${count} memory overruns`, { "grown MB": grown });
  expect(grown).toBeLessThan(40);
}, 300_000);

/** Promise R26: a built-in that cannot be broken off holds one thread, and not the end of the process. */
it("answers, goes on and ends although a thread is stuck", () => {
  const program = fileURLToPath(new URL("sandbox-process.fixture.ts", import.meta.url));
  const { stdout } = spawnSync(process.execPath, ["--no-node-snapshot", program], {
    timeout: 30_000,
    killSignal: "SIGQUIT",
  });
  const seen = JSON.parse(stdout.toString("utf8")) as {
    stuck: string;
    took: number;
    other: number;
    again: number;
  };
  report("R26", "a stuck thread", { "answered after ms": seen.took });
  expect(seen).toMatchObject({ stuck: "The code ran longer than 1 s without a pause.", other: 1, again: 2 });
  expect(seen.took).toBeLessThan(5000);
});
