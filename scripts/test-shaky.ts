// `npm run test:shaky -- 20 plugins/folders`: runs suites many times beside two busy loops, as on a machine that others
// use, and tells how often they passed. Options go to the test runner.
import { Worker } from "node:worker_threads";
import { runTests } from "./run-tests.ts";

const [count, ...args] = process.argv.slice(2);
const times = Number(count);
if (!Number.isInteger(times) || times < 1 || !args.some((arg) => !arg.startsWith("-"))) {
  console.error("Usage: npm run test:shaky -- <times> <suite> [options of the test runner]");
  process.exit(2);
}

const loops = [1, 2].map(() => new Worker("for (;;);", { eval: true }));
const failures: string[] = [];
let shortest = Infinity;
let longest = 0;
for (let turn = 1; turn <= times; turn += 1) {
  const started = performance.now();
  const { code, output } = await runTests(args, { quiet: true });
  const seconds = (performance.now() - started) / 1000;
  const passed = code === 0;
  shortest = Math.min(shortest, seconds);
  longest = Math.max(longest, seconds);
  console.log(`${String(turn).padStart(3)} ${passed ? "passed" : "FAILED"} in ${seconds.toFixed(1)} s`);
  if (!passed) {
    failures.push(`run ${turn}`);
    console.log(output);
  }
}
await Promise.all(loops.map((loop) => loop.terminate()));
console.log(
  `\n${times - failures.length} of ${times} passed, ${shortest.toFixed(1)} to ${longest.toFixed(1)} s each${failures.length > 0 ? `; failed: ${failures.join(", ")}` : ""}`,
);
process.exit(failures.length === 0 ? 0 : 1);
