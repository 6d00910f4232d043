import { spawn } from "node:child_process";
import { AppError } from "#kernel/errors.ts";

export interface Execution {
  readonly program: string;
  readonly args: readonly string[];
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface Executed {
  readonly code: number | null;
  readonly output: string;
  readonly complaint: string;
}

/** Characters of each output that are kept, from its end. */
const mostOutput = 4_000;

/** Kilobytes of address space; systems that know no such limit go without. */
const limited = 'ulimit -v 4194304 2>/dev/null; ulimit -t "$1" 2>/dev/null; shift; exec "$@"';

/**
 * Runs a program on a stranger's file: without input, environment or shell words of its own, with limits of memory and
 * of time, and killed when it passes them. Throws `timeout` beyond the time, and the reason of the signal.
 */
export function execute({ program, args, seconds, signal }: Execution): Promise<Executed> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", LC_ALL: "C" };
    const shellArgs = ["-c", limited, "sh", String(seconds), program, ...args];
    const child = spawn("/bin/sh", shellArgs, { env, stdio: ["ignore", "pipe", "pipe"] });
    let [output, complaint] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => (output = `${output}${piece}`.slice(-mostOutput)));
    child.stderr.on("data", (piece: Buffer) => (complaint = `${complaint}${piece}`.slice(-mostOutput)));
    let failure: unknown;
    const kill = (reason: unknown) => {
      failure ??= reason;
      child.kill("SIGKILL");
    };
    const late = () =>
      kill(new AppError("timeout", `Reading the recording took longer than ${seconds} seconds.`));
    const timer = setTimeout(late, seconds * 1000);
    const leave = () => kill(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      settle();
    };
    child.once("error", (error) => end(() => reject(error)));
    child.once("close", (code) =>
      end(() => (failure === undefined ? resolve({ code, output, complaint }) : reject(failure as Error))),
    );
  });
}
