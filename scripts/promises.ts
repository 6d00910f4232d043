import { root, runScript } from "./tool.ts";

// The last one holds faults on purpose.
const skipped = ["node_modules", "bench/node_modules", "test/examples/mistakes.js"];

/**
 * Promises below `place` that are neither awaited nor caught, and promises where a plain value is meant, one line each.
 * The rules need types, so they have a run of the type-aware linter to themselves.
 */
export async function findFloatingPromises(place: string): Promise<string[]> {
  const config = `${root}scripts/promises.oxlintrc.json`;
  const args = [
    "--type-aware",
    "--config",
    config,
    "--format=unix",
    ...skipped.map((at) => `--ignore-pattern=${at}`),
  ];
  const { code, stdout, stderr } = await runScript("oxlint/bin/oxlint", args, place);
  if (code === 0) {
    return [];
  }
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 0 ? lines : [`the linter ended with ${code}`];
}
