import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The project's folder, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Runs a block as a person would paste it into a shell; resolves to its output. */
export async function runShell(
  command: string,
  options: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", command], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    maxBuffer: 32 * 1024 * 1024,
  });
  return stdout;
}

export interface Started {
  readonly url: string;
  output(): string;
  stop(): Promise<void>;
}

/** Runs a block that starts the server; resolves once it has printed where it listens. */
export async function startShell(
  command: string,
  options: { cwd: string; env: Record<string, string> },
): Promise<Started> {
  const child = spawn("bash", ["-c", command], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    detached: true,
  });
  let printed = "";
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    const read = (piece: Buffer) => {
      printed += piece.toString("utf8");
      const found = /Millrace is ready: (\S+)/.exec(printed)?.[1];
      if (found) {
        resolve(found);
      }
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`the command ended with ${code}:\n${printed}`)));
  });
  return {
    url,
    output: () => printed,
    async stop() {
      // The whole group: npm, the launcher and the server.
      process.kill(-(child.pid as number), "SIGTERM");
      await exited;
    },
  };
}
