// A lock that several processes of this folder take in turn.
// Plain JavaScript with built-ins only: it runs before anything is installed, on any Node from 20 on.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Resolves to a function that releases the lock once it is this process's. `onWait` runs when another process has it. A
 * lock whose process is gone counts for nothing.
 */
export async function takeLock(path, onWait = () => {}) {
  mkdirSync(dirname(path), { recursive: true });
  for (let tries = 0; ; tries += 1) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") {
        throw error;
      }
    }
    if (isAbandoned(path)) {
      rmSync(path, { force: true });
      continue;
    }
    if (tries === 0) {
      onWait();
    }
    await sleep(100);
  }
}

function isAbandoned(path) {
  try {
    process.kill(Number(readFileSync(path, "utf8")), 0);
    return false;
  } catch (error) {
    // ENOENT: released meanwhile. EPERM: the process is there, and somebody else's.
    return error.code === "ESRCH";
  }
}
