import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import fsDriver from "unstorage/drivers/fs-lite";
import { StorageError } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import type { Blobs } from "./store.ts";
import { receive, sweep } from "./temporary.ts";

/** Half-written files; the dot keeps it apart from all keys. */
const TEMPORARY = ".incoming";

/**
 * Bytes in a folder. Listing and removing go through unstorage's driver; it holds whole values in memory,
 * so reading and writing are streams of their own: into a temporary file, then renamed.
 */
export async function openFolder(folder: string): Promise<Blobs> {
  const temporary = join(folder, TEMPORARY);
  try {
    await makeFolder(temporary);
  } catch (error) {
    throw new StorageError(`The folder ${folder} cannot be created: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const driver = fsDriver({ base: folder, ignore: (name) => name.endsWith(TEMPORARY) });
  const pathOf = (key: string) => join(folder, key);
  return {
    maxBytes: null,
    async write(key, bytes, { signal } = {}) {
      const { path, size, sha256 } = await receive(temporary, bytes, signal);
      try {
        await mkdir(dirname(pathOf(key)), { recursive: true });
        await rename(path, pathOf(key));
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
      await flushName(dirname(pathOf(key)));
      return { size, sha256 };
    },
    async read(key, range) {
      const size = await sizeOf(pathOf(key));
      if (size === undefined) {
        return undefined;
      }
      if (range && range.start >= size) {
        return Readable.from([]);
      }
      const stream = createReadStream(pathOf(key), range);
      // Opened before it is handed out, so that a file removed in between is "none" and not a broken answer.
      return await new Promise<Readable | undefined>((resolve, reject) => {
        stream.once("open", () => resolve(stream));
        stream.once("error", (error) => (isMissing(error) ? resolve(undefined) : reject(error)));
      });
    },
    size: (key) => sizeOf(pathOf(key)),
    remove: async (key) => void (await driver.removeItem?.(key, {})),
    async keys(prefix = "") {
      const keys: string[] = await driver.getKeys("", {});
      return keys.filter((key) => key.startsWith(prefix)).toSorted();
    },
    sweepTemporary: (maxAgeMs) => sweep(temporary, maxAgeMs),
  };
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const entry = await stat(path);
    return entry.isFile() ? entry.size : undefined;
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Brings a folder's list of names to the disk, so that the rename survives a power cut. */
async function flushName(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
