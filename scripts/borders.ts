import { existsSync } from "node:fs";
import { root, runScript } from "./tool.ts";

export interface BorderReport {
  /** Modules of the project that were seen. */
  readonly cruised: number;
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

const folders = ["config", "storage", "kernel", "plugins", "test", "scripts"];
const configuration = `${root}.dependency-cruiser.cjs`;

/** Holds the borders of `.dependency-cruiser.cjs` against the sources below `place`. Rejects when the tool cannot run. */
export async function findBorderViolations(place: string): Promise<BorderReport> {
  const present = folders.filter((folder) => existsSync(`${place}/${folder}`));
  const args = [...present, "--config", configuration, "--output-type", "json"];
  const { stdout, stderr } = await runScript("dependency-cruiser/bin/dependency-cruiser.mjs", args, place);
  if (!stdout.startsWith("{")) {
    throw new Error(`dependency-cruiser did not run: ${stdout}${stderr}`);
  }
  const { modules, summary } = JSON.parse(stdout) as CruiseResult;
  const own = modules.filter(({ source }) => folders.some((folder) => source.startsWith(`${folder}/`)));
  const violations = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
  return { cruised: own.length, violations };
}

interface CruiseResult {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly { rule: { name: string }; from: string; to: string }[];
  };
}
