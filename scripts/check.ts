import { checks } from "./checks.ts";

// Runs every check, or those whose names contain one of the words given, and tells all that is wrong.
const words = process.argv.slice(2);
const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
let failed = chosen.length === 0 ? 1 : 0;
for (const { name, run } of chosen) {
  const started = performance.now();
  const problems = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  for (const problem of problems) {
    console.log(`       ${problem}`);
  }
  failed += problems.length === 0 ? 0 : 1;
}
console.log(failed === 0 ? "All checks passed." : `${failed} of ${chosen.length} checks failed.`);
process.exit(failed === 0 ? 0 : 1);
