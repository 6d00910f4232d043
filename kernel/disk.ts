import { access, constants, statfs } from "node:fs/promises";
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
  /** The sentence that says why nothing can be written; undefined when the disk is fine. */
  problem(): Promise<string | undefined>;
  /** Throws with that sentence. */
  requireRoom(): Promise<void>;
  /** As the last look found it. */
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
  let room: DiskRoom | undefined;

  const look = async (): Promise<string | undefined> => {
    room = await readRoom(folder);
    const problem = await findProblem(folder, room);
    if (problem !== known) {
      known = problem;
      const facts = { path: folder, left: room && toSize(room.free_bytes) };
      if (problem === undefined) {
        log.info(facts, "the disk can be written to again");
      } else {
        log.error(facts, problem);
      }
    }
    if (room) {
      tell(room);
    }
    return problem;
  };
  return {
    problem: look,
    async requireRoom() {
      const problem = await look();
      if (problem !== undefined) {
        throw new Error(problem);
      }
    },
    room: () => room,
    async watch() {
      await look();
      timer = setInterval(() => void look(), everyMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}

async function findProblem(folder: string, room: DiskRoom | undefined): Promise<string | undefined> {
  try {
    await access(folder, constants.W_OK);
  } catch {
    return diskIsReadOnly;
  }
  return room && room.free_bytes < leastBytes ? diskIsFull : undefined;
}

async function readRoom(path: string): Promise<DiskRoom | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
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
