// `npm run bench -- [--only P1,P2] [--rounds 3] [--quick]`: measures the platform against its goals and others
// of its kind. Exits with 1 when a goal is missed. Only ratios inside one run mean anything.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkHeadroom } from "./headroom.ts";
import type { Bench } from "./measure.ts";
import { startMock } from "./mock.ts";
import { type Finding, isMet, toTable } from "./report.ts";
import { scenarios } from "./scenarios.ts";

const { values: args } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});
const folder = fileURLToPath(new URL(".", import.meta.url));

takeCore();
installContestants();
const chosen = chooseScenarios(args.only?.split(","));
const bench: Bench = {
  mock: await startMock(),
  rounds: Number(args.rounds ?? (args.quick ? 1 : 3)),
  // A small proxy is warm after four seconds, a platform with its many functions later.
  warm: args.quick ? 2000 : 8000,
  window: args.quick ? 2000 : 5000,
  isQuick: args.quick,
  best: new Map(),
};
const findings: Finding[] = [];
const broken: string[] = [];
for (const scenario of chosen) {
  console.error(`${scenario.id}: ${scenario.title} …`);
  try {
    findings.push(...(await scenario.run(bench)));
  } catch (error) {
    broken.push(`${scenario.id} could not be measured: ${error instanceof Error ? error.message : error}`);
  }
}
findings.push(...(await checkHeadroom(bench)));
await bench.mock.close();
console.log(toTable(findings));
broken.forEach((line) => console.error(line));
if (args.quick) {
  console.log("A quick run: too short and too cold for the figures to mean much.");
}
process.exit(broken.length === 0 && findings.every(isMet) ? 0 : 1);

/** Mock and client stay on core 1; contestants get core 0. */
function takeCore(): void {
  const isPinned = spawnSync("taskset", ["-acp", "1", String(process.pid)]).status === 0;
  if (!isPinned || availableParallelism() > 1) {
    fail("The bench needs Linux with two cores and `taskset` (util-linux).");
  }
}

function installContestants(): void {
  const installer = fileURLToPath(new URL("../scripts/install.mjs", import.meta.url));
  const result = spawnSync(process.execPath, [installer, "bench"], { stdio: "inherit" });
  if (result.status !== 0 || !existsSync(`${folder}node_modules/@portkey-ai/gateway`)) {
    fail("The contestants could not be installed.");
  }
}

function chooseScenarios(only: readonly string[] | undefined) {
  const unknown = only?.filter((id) => !scenarios.some((scenario) => scenario.id === id)) ?? [];
  if (unknown.length > 0) {
    fail(
      `Unknown: ${unknown.join(", ")}. There are: ${scenarios.map((scenario) => scenario.id).join(", ")}.`,
    );
  }
  return scenarios.filter((scenario) => !only || only.includes(scenario.id));
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
