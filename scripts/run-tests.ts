import { type ChildProcess, spawn } from "node:child_process";
import { root } from "./tool.ts";

export interface TestRun {
  readonly env?: NodeJS.ProcessEnv;
  /** The output is handed over at the end instead of printed. */
  readonly quiet?: boolean;
}

/** Runs the test runner with these arguments, and ends it with this process. */
export async function runTests(
  args: readonly string[],
  { env = process.env, quiet = false }: TestRun = {},
): Promise<{ code: number; output: string }> {
  const runner = `${root}node_modules/vitest/vitest.mjs`;
  const child = spawn(process.execPath, ["--no-node-snapshot", runner, "run", ...args], {
    cwd: root,
    stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
    env,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (piece: Buffer) => void (output += piece.toString("utf8")));
  }
  const release = endTogether(child);
  const code = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  release();
  return { code, output };
}

/** The runner stops its workers and servers when it is told to end, which takes a moment. */
function endTogether(child: ChildProcess): () => void {
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    child.on("close", () => process.exit(1));
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  return () => void process.off("SIGINT", end).off("SIGTERM", end);
}
