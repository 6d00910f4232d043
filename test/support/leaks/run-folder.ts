import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandOf, findProcessesOf } from "./collect.ts";

/**
 * Gives a run one temporary folder, which its workers and their processes inherit. When the run ends, the folder goes, and
 * processes that were started with it and still run fail the run.
 */
export function createRunFolder(): void {
  // Sockets lie below it, whose paths the system limits to about a hundred characters.
  const folder = mkdtempSync(join(tmpdir(), "run-"));
  // Databases and sandboxes run as users of their own.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  process.once("exit", () => {
    const left = endProcessesOf(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    if (left.length > 0) {
      process.exitCode = 1;
      process.stderr.write(`This run left processes behind; they were ended:\n${left.join("\n")}\n`);
    }
  });
}

/** Each worker has a folder of its own in that of the run, so that a suite sees nothing of others. */
export function enterWorkerFolder(): void {
  const { VITEST_POOL_ID: worker = "0", TMPDIR: folder = tmpdir() } = process.env;
  const own = `w${worker}`;
  if (!folder.endsWith(own)) {
    const path = join(folder, own);
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    process.env["TMPDIR"] = path;
  }
}

const patienceMs = 5_000;
const stepMs = 100;

/** Ends processes that name this folder in their variables or arguments, and resolves to what they were. */
function endProcessesOf(folder: string): string[] {
  const still = new Int32Array(new SharedArrayBuffer(4));
  // Those of workers that ended just now are about to end as well.
  for (let waited = 0; findProcessesOf(folder).length > 0 && waited < patienceMs; waited += stepMs) {
    Atomics.wait(still, 0, 0, stepMs);
  }
  return findProcessesOf(folder).map((pid) => {
    const name = `- process ${pid}: ${commandOf(pid)}`;
    process.kill(pid, "SIGKILL");
    return name;
  });
}
