import { randomUUID } from "node:crypto";
import { readdir, readFile, readlink } from "node:fs/promises";

/** Variable that every process of a command carries. */
export const markName = "MILLRACE_COMMAND";

/** A process whose ids mean the same to this one, told apart from a later one of its number by its start. */
interface Owner {
  /** Link of the namespace in which the numbers of processes count. */
  readonly namespace: string;
  readonly pid: number;
  /** Clock ticks after the machine's start. */
  readonly startedAt: number;
}

/** A mark that no other command has; it names the process that waits for the command. */
export async function createMark(): Promise<string> {
  const { namespace, pid, startedAt } = await ownProcess();
  return [namespace, pid, startedAt, randomUUID()].join("/");
}

let own: Promise<Owner> | undefined;

function ownProcess(): Promise<Owner> {
  own ??= (async () => {
    const namespace = await readlink("/proc/self/ns/pid").catch(() => "unknown");
    return { namespace, pid: process.pid, startedAt: (await readStat(process.pid))?.startedAt ?? 0 };
  })();
  return own;
}

interface ProcessStat {
  readonly id: number;
  readonly parent: number;
  readonly session: number;
  readonly startedAt: number;
  /** Memory in pages, shared ones included. */
  readonly pages: number;
}

/** Undefined where there is no such process. */
async function readStat(id: number): Promise<ProcessStat | undefined> {
  const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) {
    return undefined;
  }
  // The name of the program, in parentheses, may hold anything; 20 fields lie between it and the start.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  return {
    id,
    parent: fields[1] ?? 0,
    session: fields[3] ?? 0,
    startedAt: fields[19] ?? 0,
    pages: fields[21] ?? 0,
  };
}

async function listProcesses(): Promise<number[]> {
  const entries = await readdir("/proc").catch(() => []);
  return entries
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** Files of /proc that are open at a time: a command that forks for ever must not take all descriptors of the server. */
const batchSize = 32;

async function* inBatches<T>(
  pids: readonly number[],
  read: (pid: number) => Promise<T>,
): AsyncGenerator<Awaited<T>[]> {
  for (let at = 0; at < pids.length; at += batchSize) {
    yield await Promise.all(pids.slice(at, at + batchSize).map(read));
  }
}

/** Most that a command may take, with all that it starts. */
export interface CommandLimits {
  readonly processes: number;
  readonly bytes: number;
}

/** Bytes of a page on every machine that runs the platform; larger ones are counted too small, and the kernel's bound holds. */
const pageBytes = 4096;

/**
 * The limit that the processes of the session that `pid` leads, and those below it, are beyond; undefined for none, and
 * where the system does not tell.
 */
export async function findExceeded(
  pid: number | undefined,
  most: CommandLimits,
): Promise<keyof CommandLimits | undefined> {
  const counted = new Set([pid]);
  let bytes = 0;
  // A child mostly has a larger number than its parent: one pass in that order finds nearly all.
  for await (const stats of inBatches(await listProcesses(), readStat)) {
    for (const stat of stats) {
      if (stat !== undefined && (stat.id === pid || stat.session === pid || counted.has(stat.parent))) {
        counted.add(stat.id);
        bytes += stat.pages * pageBytes;
      }
    }
    if (counted.size > most.processes) {
      return "processes";
    }
  }
  // Forks share pages: only those that seem too large are worth the exact look, which takes long.
  return bytes > most.bytes && (await measureExactly([...counted])) > most.bytes ? "bytes" : undefined;
}

/** Bytes that processes take, each shared page divided by those that share it. */
async function measureExactly(pids: readonly (number | undefined)[]): Promise<number> {
  let bytes = 0;
  const wanted = pids.filter((pid) => pid !== undefined);
  const read = (pid: number) => readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  for await (const batch of inBatches(wanted, read)) {
    for (const text of batch) {
      bytes += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
    }
  }
  return bytes;
}

/** As often as this processes may beget others while they are being ended. */
const rounds = 50;

/** Ends processes that left the group of their command, such as daemons: they carry its mark all the same. */
export async function killMarked(mark: string): Promise<void> {
  await killAll((found) => found === mark);
}

/**
 * Ends commands whose server died before them, which happens without bubblewrap alone; resolves to how many processes
 * there were. Commands of other servers on this machine go on.
 */
export async function killOrphans(): Promise<number> {
  const { namespace } = await ownProcess();
  return await killAll(async (mark) => {
    const [place, pid, startedAt] = mark.split("/");
    return place === namespace && (await readStat(Number(pid)))?.startedAt !== Number(startedAt);
  });
}

async function killAll(isWanted: (mark: string) => boolean | Promise<boolean>): Promise<number> {
  const ended = new Set<number>();
  for (let round = 0; round < rounds; round += 1) {
    const found = await findMarked(isWanted);
    if (found.length === 0) {
      break;
    }
    for (const pid of found) {
      ended.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }
  return ended.size;
}

async function findMarked(isWanted: (mark: string) => boolean | Promise<boolean>): Promise<number[]> {
  const isFound = async (pid: number) => {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    const entry = environment.split("\0").find((line) => line.startsWith(`${markName}=`));
    return pid !== process.pid && entry !== undefined && (await isWanted(entry.slice(markName.length + 1)));
  };
  const found = [];
  const pids = await listProcesses();
  for await (const batch of inBatches(pids, async (pid) => ((await isFound(pid)) ? [pid] : []))) {
    found.push(...batch.flat());
  }
  return found;
}
