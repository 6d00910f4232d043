import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { ensureInterface } from "./interface.mjs";
import { type Kind, kinds, excludedFrom, lacks } from "./testing/kinds.ts";
import { root } from "./tool.ts";

// `npm test` and its sisters: the suites of one kind, or of all kinds one after the other with the checks.
// Words choose suites whose path contains them; options go to the test runner.
const [name = "platform", ...args] = process.argv.slice(2);
process.exit(name === "all" ? await runAll() : await runKind(findKind(name)));

function findKind(wanted: string): Kind {
  const kind = kinds.find((each) => each.name === wanted);
  if (!kind) {
    throw new Error(
      `There are no tests named ${wanted}; there are ${kinds.map((each) => each.name).join(", ")}.`,
    );
  }
  return kind;
}

async function runKind(kind: Kind): Promise<number> {
  const missing = lacks(kind);
  for (const { name: lacking, get } of missing) {
    console.log(`${lacking} is missing on this machine. To get it: ${get}`);
  }
  if (missing.length > 0 && !kind.canDoWithout) {
    return 1;
  }
  if (missing.length > 0) {
    console.log("Tests that need these are skipped.\n");
  }
  const elsewhere = findElsewhere(kind);
  if (elsewhere) {
    console.log(elsewhere);
    return 1;
  }
  // Suites that show a page build it themselves; in a whole run that would count against the first one's time.
  if (kind.showsPages && !args.some((arg) => !arg.startsWith("-"))) {
    await ensureInterface();
  }
  return await run(["node_modules/vitest/vitest.mjs", "run", "--project", kind.name, ...args]);
}

/** A hint for words that only suites of other kinds have in their path. */
function findElsewhere(kind: Kind): string | undefined {
  const words = args.filter((arg, at) => !arg.startsWith("-") && !/^(-t|--\w+)$/.test(args[at - 1] ?? ""));
  const hits = (each: Kind) => listSuites(each).filter((path) => words.some((word) => path.includes(word)));
  if (words.length === 0 || hits(kind).length > 0) {
    return undefined;
  }
  const others = kinds.filter((each) => each !== kind && hits(each).length > 0);
  return others.length === 0
    ? undefined
    : `No suite of these tests has ${words.join(" or ")} in its path. Try: ${others.map(toCommand).join(", or ")}`;
}

function toCommand({ name: other }: Kind): string {
  return `npm ${other === "platform" ? "test" : `run test:${other}`} -- ${args.join(" ")}`;
}

function listSuites(kind: Kind): string[] {
  const exclude = ["**/node_modules/**", ...excludedFrom(kind)];
  return globSync([...kind.include], { cwd: root, exclude });
}

/** Runs every kind and the checks, prints the time of each, and resolves to the number of those that failed. */
async function runAll(): Promise<number> {
  const parts = [
    ...kinds.map((kind) => ({ title: `${kind.name}: ${kind.about}`, run: () => runKind(kind) })),
    { title: "check: types, lint, borders, docs", run: () => run(["scripts/check.ts"]) },
  ];
  const lines: string[] = [];
  let failed = 0;
  for (const part of parts) {
    const started = performance.now();
    console.log(`\n== ${part.title}`);
    const code = await part.run();
    failed += code === 0 ? 0 : 1;
    const seconds = Math.round((performance.now() - started) / 1000);
    lines.push(`${String(seconds).padStart(6)} s  ${code === 0 ? "ok    " : "FAILED"}  ${part.title}`);
  }
  console.log(`\n${lines.join("\n")}`);
  return failed;
}

function run(command: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...command], { cwd: root, stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
}
