import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { excludedFrom, type Kind, kinds } from "./scripts/testing/kinds.ts";
import { RunReporter } from "./test/support/run-reporter.ts";

/** `.ci/run` sets it to `server` to run the suites of the embedded database on a server as well. */
const databaseKind = process.env["TEST_DATABASE"] ?? "embedded";
/** Suites of one kind of database, or of none, run the same on both: they are not run twice. */
const ofOneKind = [
  "storage/**",
  "test/database/**",
  "test/host/left-out.test.ts",
  "test/faults/server/**",
  "test/faults/{crash,sandbox,slow-readers}.test.ts",
  // Completions without a chat, lists of models and the process itself: no database takes part.
  "test/faults/{bad-upstream,dead-provider,process-lives}.test.ts",
  "plugins/**/*.processes.test.ts",
  "test/walkthrough/{contributing,plugins,readme}.test.ts",
];

const widerLimits = "test/support/wider-limits.ts";

function toProject(kind: Kind, order: number): UserWorkspaceConfig {
  const isAboutDatabases = kind.name === "embedded" || kind.name === "faults";
  const choosesDatabase = isAboutDatabases || kind.name === "hands";
  return {
    test: {
      name: kind.name,
      include: [...kind.include],
      exclude: [
        "**/node_modules/**",
        ...excludedFrom(kind),
        ...(isAboutDatabases && databaseKind === "server" ? ofOneKind : []),
      ],
      isolate: kind.isolate,
      // A worker is ended when the next suite is of another kind: mixed kinds would start the platform for each suite anew.
      sequence: { groupOrder: order },
      ...(kind.isOneByOne && { maxWorkers: 1 }),
      ...(choosesDatabase && { env: { TEST_DATABASE: databaseKind } }),
      setupFiles: ["test/support/setup.ts", ...(kind.showsPages && !kind.isolate ? [widerLimits] : [])],
      pool: "forks",
      execArgv: ["--no-node-snapshot"],
      testTimeout: 120_000,
      hookTimeout: 240_000,
      retry: 0,
      // Node strips the types itself, as it does for the server: transforming every module takes longer than most suites.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      // One second, as it is elsewhere, is too short for a page on a busy machine.
      expect: { poll: { timeout: 15_000 } },
    },
  };
}

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    // One more than the cores that are counted on: suites wait for the database, pages and processes part of their time.
    maxWorkers: 3,
    sequence: { shuffle: { files: true, tests: false } },
    reporters: [new RunReporter()],
    projects: kinds.map(toProject),
  },
});
