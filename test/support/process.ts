import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything it printed so far. */
  output(): string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Asks it to stop; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the platform as a process of its own, for faults that end or starve one; resolves once it serves. */
export async function startProcess(
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<ServerProcess> {
  const child = spawn(process.execPath, ["--no-node-snapshot", `${root}plugins/serve.ts`, ...args], {
    cwd: root,
    env: {
      PATH: process.env["PATH"] ?? "",
      ENV: "prod",
      PORT: "0",
      HOST: "127.0.0.1",
      GLOBAL_LOG_LEVEL: "WARNING",
      // As `npm start` has it: compiling the sources anew is a quarter of each start.
      NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled`,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
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
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) =>
      reject(new Error(`the server ended with ${code} before it served:\n${printed}`)),
    );
  });
  return {
    url,
    child,
    output: () => printed,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child.kill("SIGTERM");
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
