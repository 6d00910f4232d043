import { randomUUID } from "node:crypto";
import { link, lstat, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { createConnection, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageError } from "../errors.ts";

const NAME = "database.lock";

export interface FolderLock {
  /** Throws StorageError when another process took the folder over in the moment both found it free. */
  verify(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes a folder for this process. The lock is a listening Unix socket: the system closes it with the process,
 * however that ends, and unlike a process number it means the same in every container. Throws StorageError when
 * another process answers.
 */
export async function lockFolder(folder: string, log: (message: string) => void): Promise<FolderLock> {
  const door = await openDoor(folder);
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const server = await take(folder, door.path, log);
      if (server) {
        return server;
      }
    }
    throw new StorageError(`The folder ${folder} cannot be locked: too many processes try at once`);
  } finally {
    await door.close();
  }
}

async function take(
  folder: string,
  path: string,
  log: (message: string) => void,
): Promise<FolderLock | undefined> {
  // Bound under a name of its own first: linking it to the common name either works or finds the name taken.
  const own = `${path}.${randomUUID().slice(0, 8)}`;
  const server = createServer((socket) => socket.end());
  const listening = await listen(server, own);
  if (!listening.ok) {
    log(`${folder} cannot hold a lock (${listening.code}): make sure that only one process uses it`);
    return { verify: async () => {}, release: async () => {} };
  }
  // A process that only waits for others to knock should be able to end.
  server.unref();
  const { ino } = await lstat(own);
  const release = async () => {
    if ((await inode(join(folder, NAME))) === ino) {
      await rm(join(folder, NAME), { force: true });
    }
    await new Promise((resolve) => server.close(resolve));
  };
  if (await linked(own, path)) {
    await rm(own, { force: true });
    return { release, verify: () => requireSame(folder, ino) };
  }
  await rm(own, { force: true });
  await new Promise((resolve) => server.close(resolve));
  const seen = await inode(path);
  if (seen !== undefined && (await answers(path))) {
    throw inUse(folder);
  }
  if (seen !== undefined) {
    await removeStale(path, seen);
  }
  return undefined;
}

/** Removes the socket of a dead process, unless somebody took the name over since it was looked at. */
async function removeStale(path: string, seen: number): Promise<void> {
  const aside = `${path}.${randomUUID().slice(0, 8)}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await inode(aside)) !== seen) {
    await linked(aside, path);
  }
  await rm(aside, { force: true });
}

async function requireSame(folder: string, ino: number): Promise<void> {
  if ((await inode(join(folder, NAME))) !== ino) {
    throw inUse(folder);
  }
}

/** Another process holds the folder. */
class InUseError extends StorageError {}

export function isInUse(error: unknown): boolean {
  return error instanceof InUseError;
}

function inUse(folder: string): StorageError {
  return new InUseError(
    `Another process already uses the embedded database in ${folder}. Stop it first, choose another DATA_DIR, or set DATABASE_URL to a Postgres server to run several processes`,
  );
}

function listen(server: Server, path: string): Promise<{ ok: true } | { ok: false; code: string }> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ ok: false, code: error.code ?? error.message }),
    );
    server.listen(path, () => resolve({ ok: true }));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      return false;
    }
    throw error;
  }
}

async function inode(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).ino;
  } catch {
    return undefined;
  }
}

/** The path of a socket ends at 107 bytes; a short link makes deep folders reachable. */
async function openDoor(folder: string): Promise<{ path: string; close(): Promise<void> }> {
  const direct = join(folder, NAME);
  if (Buffer.byteLength(direct) < 90) {
    return { path: direct, close: async () => {} };
  }
  const holder = await mkdtemp(join(tmpdir(), "lock-"));
  await symlink(folder, join(holder, "d"));
  return { path: join(holder, "d", NAME), close: () => rm(holder, { recursive: true, force: true }) };
}
