import { readFile } from "node:fs/promises";
import { findBorderViolations } from "./borders.ts";
import { findComponentViolations } from "./component-borders.ts";
import { renderDocs } from "./docs.ts";
import { findForeignTraces, findLongFiles } from "./hygiene.ts";
import { findOldNames } from "./old-names.ts";
import { findFloatingPromises } from "./promises.ts";
import { root, runTool } from "./tool.ts";

/** One rule of the project; `run` resolves to what breaks it, one line each. */
export interface Check {
  readonly name: string;
  run(): Promise<readonly string[]>;
}

/** Everything `npm run check` runs, cheapest first; `test/architecture.test.ts` runs the same list. */
export const checks: readonly Check[] = [
  { name: "no file over 300 lines", run: () => findLongFiles(root, 300) },
  { name: "no trace of one machine or registry", run: () => findForeignTraces(root) },
  { name: "old names stay gone", run: () => findOldNames(root) },
  { name: "format", run: () => runTool("oxfmt/bin/oxfmt", ["--check", "."]) },
  { name: "lint", run: () => runTool("oxlint/bin/oxlint", ["--format=unix"]) },
  { name: "no promise is left alone", run: () => findFloatingPromises(root) },
  { name: "borders", run: findBorderViolationLines },
  { name: "types", run: findTypeErrors },
  { name: "interface types", run: findInterfaceTypeErrors },
  { name: "generated docs are up to date", run: findStaleDocs },
];

/** Remembers what it saw in the cache folder: a second run after a small change takes a fifth of the time. */
function findTypeErrors(): Promise<string[]> {
  const memory = ["--incremental", "--tsBuildInfoFile", `${root}node_modules/.cache/types.tsbuildinfo`];
  // The compiler in machine code, with one checker: it takes a third of the time, and several would share one core's work.
  const options = ["-p", "tsconfig.json", "--pretty", "false", "--checkers", "1", ...memory];
  return runTool("@typescript/native/bin/tsc", options);
}

/** The interface has a bundler's rules of resolution and components, which only its own checker reads. */
function findInterfaceTypeErrors(): Promise<string[]> {
  const options = ["--tsconfig", "plugins/web/tsconfig.json", "--output", "machine", "--fail-on-warnings"];
  return runTool("svelte-check/bin/svelte-check", options);
}

async function findBorderViolationLines(): Promise<string[]> {
  const { cruised, violations } = await findBorderViolations(root);
  const ofComponents = await findComponentViolations(root);
  // A tool that cannot read TypeScript sees next to nothing and reports success.
  const tooFew = cruised < 300 ? [`only ${cruised} modules were seen, more than 300 are expected`] : [];
  return [
    ...tooFew,
    ...[...violations, ...ofComponents].map(({ rule, from, to }) => `${rule}: ${from} → ${to}`),
  ];
}

async function findStaleDocs(): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, text] of Object.entries(await renderDocs())) {
    const written = await readFile(`${root}${path}`, "utf8").catch(() => "");
    if (written !== text) {
      stale.push(`${path} is stale; run npm run generate`);
    }
  }
  return stale;
}
