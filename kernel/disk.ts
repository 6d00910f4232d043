import { access, constants, statfs } from "node:fs/promises";
import { accessSync, statfsSync } from "node:fs";
import type { Events } from "./events.ts";
import type { Logger } from "./log.ts";
import { troubleBegan } from "./trouble.ts";

/** A database and an upload need so much to finish what they have begun. */
const leastBytes = 32 * 1024 * 1024;
const everyMs = 15_000;

export const diskIsFull = "There is no room left on the server's disk.";
export const diskIsReadOnly = "The server's disk cannot be written to.";

/** Room on the disk below a folder. */
export interface DiskRoom {
  readonly path: string;
  readonly free_bytes: number;
  readonly total_bytes: number;
}

/** The disk of this process. */
export interface Disk {
  /** Throws with a sentence when nothing can be written. */
  requireRoom(): Promise<void>;
  /** The same at once, for the words of an answer that failed; undefined when the disk is fine. */
  problem(): string | undefined;
  room(): DiskRoom | undefined;
  /** Looks now, and then every few seconds until `stop`. */
  watch(): Promise<void>;
  stop(): void;
}

export interface DiskParts {
  readonly folder: string;
  readonly log: Pick<Logger, "error" | "info">;
  readonly events: Pick<Events, "emit">;
}

/** Watches the disk below a folder: a full one is logged once, and one that fills is told to administrators. */
export function createDisk({ folder, log, events }: DiskParts): Disk {
  const tell = createWarnings((trouble) => events.emit(troubleBegan, trouble));
  let timer: NodeJS.Timeout | undefined;
  let known: string | undefined;

  function note(problem: string | undefined): void {
    if (problem !== known) {
      known = problem;
      const room = readRoom(folder);
      const facts = { path: folder, left: room && toSize(room.free_bytes) };
      if (problem === undefined) {
        log.info(facts, "the disk can be written to again");
      } else {
        log.error(facts, problem);
      }
    }
  }

  const problem = () => {
    const found = findProblem(folder);
    note(found);
    return found;
  };
  const look = () => {
    problem();
    const room = readRoom(folder);
    if (room) {
      tell(room);
    }
  };
  return {
    async requireRoom() {
      try {
        await requireRoom(folder);
        note(undefined);
      } catch (error) {
        note((error as Error).message);
        throw error;
      }
    },
    problem,
    room: () => readRoom(folder),
    async watch() {
      look();
      timer = setInterval(look, everyMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Throws with a sentence when nothing can be written below a folder. */
export async function requireRoom(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new Error(diskIsReadOnly, { cause: error });
  }
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < leastBytes) {
    throw new Error(diskIsFull);
  }
}

function findProblem(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return diskIsReadOnly;
  }
  const room = readRoom(folder);
  return room && room.free_bytes < leastBytes ? diskIsFull : undefined;
}

function readRoom(path: string): DiskRoom | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(path);
    return { path, free_bytes: bavail * bsize, total_bytes: blocks * bsize };
  } catch {
    return undefined;
  }
}

const limits = [10, 5] as const;
/** A disk at the edge would be told of again and again; so much more than a limit counts as room. */
const slack = 1;

/** Tells once of each limit that is passed, and again only after there was room. */
export function createWarnings(
  tell: (trouble: { kind: "disk"; id: string; name: string; reason: string }) => void,
): (room: DiskRoom) => void {
  const told = new Set<number>();
  return ({ path, free_bytes: free, total_bytes: total }) => {
    const percent = total === 0 ? 100 : (100 * free) / total;
    const passed = limits.filter((limit) => percent < limit);
    const fresh = passed.filter((limit) => !told.has(limit)).at(-1);
    passed.forEach((limit) => told.add(limit));
    limits.filter((limit) => percent >= limit + slack).forEach((limit) => told.delete(limit));
    if (fresh !== undefined) {
      const reason = `${toSize(free)} of ${toSize(total)} are left at ${path}.`;
      tell({ kind: "disk", id: String(fresh), name: `Less than ${fresh} % of the disk is left`, reason });
    }
  };
}

function toSize(bytes: number): string {
  const megabytes = bytes / 1024 ** 2;
  return megabytes < 1024 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}
