import { readFile } from "node:fs/promises";
import { findBorderViolations } from "./borders.ts";
import { findComponentViolations } from "./component-borders.ts";
import { findDatedExpectations } from "./clocks/dated-expectations.ts";
import { renderDocs } from "./docs.ts";
import { findArchitectureGaps, findPictureGaps } from "./documents.ts";
import { findForeignTraces, findLongFiles, findQuarantined } from "./hygiene.ts";
import { findOldNames } from "./old-names.ts";
import { findFloatingPromises } from "./promises.ts";
import { root, runTool } from "./tool.ts";

/** One rule of the project; `run` resolves to what breaks it, one line each. */
export interface Check {
  readonly name: string;
  /** Paths of the files that its outcome depends on. */
  readonly inputs: RegExp;
  run(): Promise<readonly string[]>;
}

const everything = /./;
const sources = /\.(ts|mjs|cjs|js|svelte|css|json)$/;
/** Suites outside the web folders are no part of the interface. */
const interfaceSources = /^(?!.*\.test\.ts$).*\.(ts|svelte|json|js)$|\/web\/.*\.ts$/;

/** Everything `npm run check` runs, cheapest first. */
export const checks: readonly Check[] = [
  { name: "no file over 300 lines", inputs: sources, run: () => findLongFiles(root, 300) },
  { name: "no trace of one machine or registry", inputs: everything, run: () => findForeignTraces(root) },
  { name: "at most ten tests in quarantine", inputs: sources, run: () => findQuarantined(root) },
  { name: "no test expects the machine's clock", inputs: sources, run: () => findDatedExpectations(root) },
  { name: "old names stay gone", inputs: sources, run: () => findOldNames(root) },
  { name: "ARCHITECTURE.md names the tree", inputs: everything, run: findArchitectureGaps },
  { name: "pictures of docs", inputs: everything, run: findPictureGaps },
  { name: "format", inputs: sources, run: () => runTool("oxfmt/bin/oxfmt", ["--check", "."]) },
  { name: "lint", inputs: sources, run: () => runTool("oxlint/bin/oxlint", ["--format=unix"]) },
  { name: "no promise is left alone", inputs: sources, run: () => findFloatingPromises(root) },
  { name: "borders", inputs: sources, run: findBorderViolationLines },
  { name: "types", inputs: sources, run: findTypeErrors },
  { name: "components", inputs: interfaceSources, run: findInterfaceTypeErrors },
  { name: "generated docs are up to date", inputs: everything, run: findStaleDocs },
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
