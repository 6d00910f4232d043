// `npm run test:dates`: the suites that touch dates, under moments and in zones where code about dates goes wrong. One
// run is a round: ten moments, each in one of four zones; four rounds have each moment in each zone. The commit chooses
// the round, or `-- --round 2` (1 to 4). `-- --pick 2` takes two moments of the round, chosen by the commit as well;
// `-- --moment saturday --zone UTC` those of these names from all rounds; `-- --at 2027-02-28T22:58:00Z --zone UTC` any
// other. `-- --kind platform` leaves out the suites of the other kinds, and words take only suites whose path contains one.
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { listMoments, listRound, type Moment, pickMoments, rounds } from "./dates/moments.ts";
import { findDateSuites } from "./dates/suites.ts";
import { ensureInterface } from "./interface.mjs";
import { runTests } from "./run-tests.ts";
import { root } from "./tool.ts";

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    pick: { type: "string" },
    round: { type: "string" },
    moment: { type: "string", multiple: true },
    zone: { type: "string", multiple: true },
    at: { type: "string" },
    kind: { type: "string", multiple: true },
    list: { type: "boolean" },
  },
});

const chosen = choose();
const suites = (await findDateSuites()).filter(
  (suite) => words.length === 0 || words.some((word) => suite.includes(word)),
);
console.log(`${suites.length} suites touch dates, ${chosen.length} moments:`);
console.log(chosen.map((moment) => `  ${describe(moment)}`).join("\n"));
if (values.list) {
  console.log(suites.join("\n"));
  process.exit(0);
}
if (suites.length === 0 || chosen.length === 0) {
  console.error("There is no such suite or no such moment; --list tells which there are.");
  process.exit(1);
}
await ensureInterface();
const failed: Moment[] = [];
for (const moment of chosen) {
  console.log(`\n== ${describe(moment)}`);
  const started = performance.now();
  if ((await runAt(moment)) !== 0) {
    failed.push(moment);
  }
  console.log(`${Math.round((performance.now() - started) / 1000)} s  ${describe(moment)}`);
}
console.log(`\n${chosen.length - failed.length} of ${chosen.length} moments passed. To repeat them:`);
for (const moment of chosen) {
  console.log(`${failed.includes(moment) ? "FAILED" : "passed"}  ${toCommand(moment)}`);
}
process.exit(failed.length === 0 ? 0 : 1);

function choose(): readonly Moment[] {
  const { at, zone = [], moment = [], pick, round } = values;
  if (at !== undefined) {
    return [{ name: "given", zone: zone[0] ?? "UTC", at }];
  }
  if (zone.length > 0 || moment.length > 0) {
    return listMoments().filter(
      (each) =>
        (zone.length === 0 || zone.includes(each.zone)) &&
        (moment.length === 0 || moment.includes(each.name)),
    );
  }
  const commit = readCommit();
  const all = listRound(round === undefined ? commit % rounds : Number(round) - 1);
  return pick === undefined ? all : pickMoments(all, Number(pick), Math.floor(commit / rounds));
}

/** A number that is the same for each run of a commit, and another for the next. */
function readCommit(): number {
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
  return Number.parseInt(commit.slice(0, 8), 16);
}

function describe({ name, zone, at }: Moment): string {
  return `${name} in ${zone}, ${at}`;
}

function toCommand({ zone, at }: Moment): string {
  const kinds = (values.kind ?? []).map((kind) => ` --kind ${kind}`).join("");
  return `npm run test:dates -- --at ${at} --zone ${zone}${kinds}${words.map((word) => ` ${word}`).join("")}`;
}

async function runAt({ at, zone }: Moment): Promise<number> {
  // A server that others use as well has the clock of its machine.
  const { TEST_DATABASE_URL: _, NODE_OPTIONS: options = "", ...rest } = process.env;
  const env = {
    ...rest,
    TZ: zone,
    TEST_MOMENT: at,
    TEST_CLOCK_SHIFT: String(Date.parse(at) - Date.now()),
    NODE_OPTIONS: `${options} --import=${new URL("../test/support/clock/moved-date.mjs", import.meta.url).href}`,
  };
  const projects = (values.kind ?? []).flatMap((kind) => ["--project", kind]);
  return (await runTests([...projects, ...suites], { env })).code;
}
