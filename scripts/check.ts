import { openCheckCache } from "./check-cache.ts";
import { checks } from "./checks.ts";

// Runs every check, or those whose names contain one of the words given, and prints all that is wrong. A check that has
// passed on the same content is not run again; `--again` runs it all the same.
const args = process.argv.slice(2);
const words = args.filter((arg) => !arg.startsWith("-"));
const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const cache = await openCheckCache();
let failed = chosen.length === 0 ? 1 : 0;
for (const { name, inputs, run } of chosen) {
  if (!args.includes("--again") && cache.hasPassed(name, inputs)) {
    console.log(`ok     ${name} (unchanged)`);
    continue;
  }
  const started = performance.now();
  const problems = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  for (const problem of problems) {
    console.log(`       ${problem}`);
  }
  if (problems.length === 0) {
    await cache.keepPassed(name, inputs);
  } else {
    failed += 1;
  }
}
console.log(failed === 0 ? "All checks passed." : `${failed} of ${chosen.length} checks failed.`);
process.exit(failed === 0 ? 0 : 1);
