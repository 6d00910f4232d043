import { defineConfig, type UserWorkspaceConfig } from "vitest/config";
import { SlowestFiles } from "./test/support/slowest-files.ts";

const everywhere = "{config,storage,kernel,plugins,test,scripts,bench}/**/*.test.ts";
/** Suites about the embedded database, the start of the program and what faults leave behind. */
const embedded = [
  "storage/**/*.test.ts",
  // It starts the platform once for each plugin, which tells nothing about a database.
  "test/host/!(left-out).test.ts",
  "test/walkthrough/**/*.test.ts",
];
const faults = ["test/faults/**/*.test.ts"];
/** Hostile code may leave a process in any state, and modules that a test replaces stay replaced. */
const isolated = ["test/security/**/*.test.ts", "plugins/sandbox/**/*.test.ts", "**/*.isolated.test.ts"];
const modules = ["**/node_modules/**"];

/** `.ci/run` sets it to `server` to run the suites of the embedded database on a server as well. */
const kind = process.env["TEST_DATABASE"] ?? "embedded";
/** Suites of one kind of database, or of none, run the same on both: they are not run twice. */
const ofOneKind = [
  "storage/**",
  "test/faults/server/**",
  "test/faults/{crash,sandbox,slow-readers}.test.ts",
  "test/walkthrough/{contributing,plugins,readme}.test.ts",
];
const repeated = kind === "server" ? ofOneKind : [];

const common = {
  setupFiles: ["test/support/setup.ts"],
  pool: "forks",
  execArgv: ["--no-node-snapshot"],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Thousands of tests wait for pages and processes: one that a busy machine kept too long is tried twice more, and told.
  retry: 2,
  // One second, as it is elsewhere, is too short for a page on a busy machine.
  expect: { poll: { timeout: 15_000 } },
} satisfies UserWorkspaceConfig["test"];

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    // One more than the cores that are counted on: suites wait for pages, processes and deadlines about half of their time.
    maxWorkers: 3,
    reporters: ["default", new SlowestFiles()],
    projects: [
      {
        test: {
          ...common,
          name: "platform",
          include: [everywhere],
          exclude: [...modules, ...embedded, ...faults, ...isolated],
          isolate: false,
        },
      },
      { test: { ...common, name: "isolated", include: isolated, exclude: modules } },
      {
        test: {
          ...common,
          name: "embedded",
          include: embedded,
          exclude: [...modules, ...repeated],
          isolate: false,
          env: { TEST_DATABASE: kind },
        },
      },
      {
        test: {
          ...common,
          name: "faults",
          include: faults,
          exclude: [...modules, ...repeated],
          env: { TEST_DATABASE: kind },
        },
      },
    ],
  },
});
