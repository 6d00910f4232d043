import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, opendir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";

/** A file of a folder. */
export interface FolderFile {
  /** Below the folder, with `/` between its parts. */
  readonly path: string;
  /** Free of links. */
  readonly real: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** More files than one collection is meant for. */
export const maxFiles = 20_000;
const maxDepth = 32;

/**
 * The files of a folder and those below it, hidden ones left out. A link counts where it leads to a file inside the
 * folder; links that leave it, and links to directories, are not followed. Throws when the folder cannot be read.
 */
export async function* readFolder(folder: string, signal: AbortSignal): AsyncGenerator<FolderFile> {
  const root = await realpath(folder);
  yield* walk(root, { root, depth: 0, signal });
}

async function* walk(
  directory: string,
  { root, depth, signal }: { root: string; depth: number; signal: AbortSignal },
): AsyncGenerator<FolderFile> {
  for await (const entry of await opendir(directory)) {
    signal.throwIfAborted();
    const path = join(directory, entry.name);
    if (entry.name.startsWith(".")) {
      continue;
    }
    if (entry.isDirectory() && depth < maxDepth) {
      yield* walk(path, { root, depth: depth + 1, signal });
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      const file = await toFile(path, root);
      if (file !== undefined) {
        yield file;
      }
    }
  }
}

async function toFile(path: string, root: string): Promise<FolderFile | undefined> {
  try {
    const real = await realpath(path);
    const facts = await stat(real);
    return facts.isFile() && real.startsWith(root + sep)
      ? {
          path: relative(root, path).split(sep).join("/"),
          real,
          size: facts.size,
          modifiedMs: Math.floor(facts.mtimeMs),
        }
      : undefined;
  } catch {
    // It went between the two looks, or leads nowhere.
    return undefined;
  }
}

/** Opens a file that was found; a link that was put in its place meanwhile is refused. */
export async function openFile({ real }: FolderFile): Promise<FileHandle> {
  return await open(real, constants.O_RDONLY | constants.O_NOFOLLOW);
}

/** SHA-256 of a file's bytes in hex. */
export async function hashFile(file: FolderFile, signal: AbortSignal): Promise<string> {
  const handle = await openFile(file);
  const hash = createHash("sha256");
  await pipeline(handle.createReadStream(), hash, { signal });
  return hash.digest("hex");
}
