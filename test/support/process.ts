import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { clockVariables } from "./clock/clock.ts";

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
export function startProcess(
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<ServerProcess> {
  return untilServing(spawnProgram(env, args));
}

/** The same for a server that suites share: it ends with this process, in whatever way this process ends. */
export function startSharedProcess(env: Record<string, string>): Promise<ServerProcess> {
  return untilServing(spawnProgram(env, [], { path: "test/support/serve-with-parent.ts", stdio: ["ipc"] }));
}

async function untilServing(child: ChildProcess): Promise<ServerProcess> {
  let printed = "";
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    const read = (piece: Buffer) => {
      printed += piece.toString("utf8");
      const found = /Millrace is ready: ([^\s"]+)/.exec(printed)?.[1];
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

export interface CommandProcess {
  readonly child: ChildProcess;
  /** Its exit code, null after a signal, and everything it printed. */
  readonly ended: Promise<{ code: number | null; output: string }>;
}

/** Runs a command of the platform as a process of its own, such as `backup`. */
export function startCommand(env: Record<string, string>, args: readonly string[]): CommandProcess {
  const child = spawnProgram(env, args);
  let output = "";
  child.stdout?.on("data", (piece: Buffer) => void (output += piece.toString("utf8")));
  child.stderr?.on("data", (piece: Buffer) => void (output += piece.toString("utf8")));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, output }));
  return { child, ended };
}

interface Program {
  readonly path: string;
  /** Streams after the first three. */
  readonly stdio: readonly "ipc"[];
}

function spawnProgram(
  env: Record<string, string>,
  args: readonly string[],
  { path, stdio }: Program = { path: "plugins/serve.ts", stdio: [] },
): ChildProcess {
  return spawn(process.execPath, ["--no-node-snapshot", root + path, ...args], {
    cwd: root,
    env: {
      PATH: process.env["PATH"] ?? "",
      ENV: "prod",
      PORT: "0",
      HOST: "127.0.0.1",
      GLOBAL_LOG_LEVEL: "WARNING",
      // As `npm start` has it: compiling the sources again is a quarter of each start.
      NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled`,
      TMPDIR: tmpdir(),
      ...clockVariables(),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe", ...stdio],
  });
}
