import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { TailBuffer } from "./tail-buffer.ts";
import { type Confinement, find, toArguments } from "./confinement.ts";
import { type CommandLimits, createMark, findExceeded, killMarked, markName } from "./stragglers.ts";

export interface CommandOptions {
  /** Real path of the workspace's folder. */
  readonly root: string;
  /** PATH of commands. */
  readonly path: string;
  readonly hasNetwork: boolean;
  readonly confinement: Confinement;
  readonly timeoutMs: number;
  /** Bytes that it may take, with all that it starts. */
  readonly memory: number;
  readonly signal: AbortSignal;
  /** Characters of the output that are kept: its beginning and its end. */
  readonly keptChars: number;
}

export interface CommandResult {
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  /** Standard output and errors as they came. */
  readonly output: string;
  /** Why it was ended before it was done. */
  readonly ended: "timeout" | "output" | "processes" | "memory" | undefined;
  readonly isConfined: boolean;
}

/** More output than this ends a command. */
const mostBytes = 32 * 1024 * 1024;
/** More processes than this end a command: it forks for ever. */
const mostProcesses = 300;
const watchEveryMs = 100;
/** The least urgent of all: a command that forks for ever shall not keep the server from ending it. */
const yielding = ["-n", "19"];
/** The first to go where the machine runs out of memory. */
const expendable = ["-n", "1000", "--"];
/**
 * Bound of the kernel, for growth that outruns the look. Confined commands alone have it, for it counts the account's
 * processes of one namespace; root is exempt.
 */
const boundProcesses = 400;

/** Arguments that run what follows by a program of the system; none where it is missing. */
async function findPrefix(name: string, args: readonly string[], path: string): Promise<string[]> {
  const program = await find(name, path);
  return program === undefined ? [] : [program, ...args];
}

/**
 * Runs a program in a workspace: confined where bubblewrap works, without input, with none of the server's variables.
 * When it resolves, nothing of it runs any more. Rejects with the signal's reason.
 */
export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { root, path, hasNetwork, memory, signal } = options;
  signal.throwIfAborted();
  const state = await options.confinement.check();
  const mark = await createMark();
  const home = state.isOn ? "/tmp" : root;
  const env = { PATH: path, HOME: home, LANG: "C.UTF-8", TERM: "dumb", CI: "1", [markName]: mark };
  const limits = [
    ...(await findPrefix("nice", yielding, path)),
    ...(await findPrefix("choom", expendable, path)),
    // Of one process, at once; the look at all of them comes a moment later.
    ...(await findPrefix("prlimit", [`--data=${memory}`, "--"], path)),
  ];
  const confined = state.isOn
    ? [
        state.program,
        ...withEnvironment(
          toArguments(root, {
            path,
            hasNetwork,
            tmpBytes: state.hasSizes ? Math.floor(memory / 2) : undefined,
          }),
          env,
        ),
        ...(await findPrefix("prlimit", [`--nproc=${boundProcesses}`, "--"], path)),
      ]
    : [];
  const [program, ...rest] = [...limits, ...confined, ...argv] as [string, ...string[]];
  const child = spawn(program, rest, {
    cwd: root,
    env,
    // A group of its own, so that the whole of it can be ended.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { exitCode, output, ended } = await watch(child, options);
  killGroup(child);
  await killMarked(mark);
  signal.throwIfAborted();
  return { exitCode, output, ended, isConfined: state.isOn };
}

/** Inside, the environment is empty but for what is named. */
function withEnvironment(args: readonly string[], env: Readonly<Record<string, string>>): string[] {
  const end = args.lastIndexOf("--");
  return [
    ...args.slice(0, end),
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...args.slice(end),
  ];
}

type Watched = Pick<CommandResult, "exitCode" | "output" | "ended">;

async function watch(
  child: ChildProcess,
  { timeoutMs, memory, signal, keptChars }: CommandOptions,
): Promise<Watched> {
  const tail = new TailBuffer(keptChars);
  let ended: CommandResult["ended"];
  const end = (why: CommandResult["ended"]) => {
    ended ??= why;
    killGroup(child);
  };
  const take = (bytes: Buffer) => {
    tail.add(bytes);
    if (tail.size > mostBytes) {
      end("output");
    }
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  const stop = () => killGroup(child);
  signal.addEventListener("abort", stop, { once: true });
  const limit = setTimeout(() => end("timeout"), timeoutMs);
  const isOver = new AbortController();
  const most = { processes: mostProcesses, bytes: memory };
  const watching = watchProcesses(child.pid, most, {
    over: isOver.signal,
    onExceeded: (limit) => end(limit === "bytes" ? "memory" : "processes"),
  });
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      // Not `close`: children that were left behind hold the pipes open.
      child.once("exit", (code) => setImmediate(() => resolve(code)));
    });
    return { exitCode, output: tail.text(), ended };
  } finally {
    clearTimeout(limit);
    isOver.abort();
    await watching;
    signal.removeEventListener("abort", stop);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Looks one time after another, for a look takes long while a command forks for ever. */
async function watchProcesses(
  pid: number | undefined,
  most: CommandLimits,
  { over, onExceeded }: { over: AbortSignal; onExceeded: (limit: keyof CommandLimits) => void },
): Promise<void> {
  while (!over.aborted) {
    const exceeded = await findExceeded(pid, most);
    if (exceeded !== undefined) {
      onExceeded(exceeded);
    }
    await pause(watchEveryMs, undefined, { signal: over }).catch(() => undefined);
  }
}

/** The group of the command; confined, the end of the outermost process ends all of them. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Nothing of it is left.
    }
  }
}
