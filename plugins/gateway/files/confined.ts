import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  unlink,
} from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#kernel/errors.ts";

/** The largest file that tools and pages read or write. */
export const maxFileBytes = 10 * 1024 * 1024;

/** One entry of a folder. */
export interface Entry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Bytes; 0 for all but files. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly modified: number;
}

/**
 * The files of one workspace. Every path is below its root; links are never followed, neither is a device, a pipe or a
 * file with a second name read. All work goes through an open folder, so that a link that is put in place of a folder
 * meanwhile changes nothing.
 */
export interface ConfinedFiles {
  readonly root: string;
  list(path: string): Promise<Entry[]>;
  /** Throws `not_found`, `invalid` and `too_large` with sentences for people and models. */
  read(path: string): Promise<Buffer>;
  /** Makes missing folders; a file that is there is replaced as a whole and keeps its mode. */
  write(path: string, bytes: Uint8Array, mode?: number): Promise<void>;
  remove(path: string): Promise<void>;
}

/** The segments of a path below a workspace; `.` and empty ones are left out. Throws `invalid` for what leads out. */
export function toSegments(path: string): string[] {
  if (path.includes("\u0000") || !path.isWellFormed()) {
    throw new AppError("invalid", "path: holds a NUL or a broken character.");
  }
  const inside = path.replace(/^\/workspace(?=\/|$)/, "");
  if (inside.startsWith("/") && inside === path) {
    throw new AppError("invalid", `path: ${path} is absolute; paths are relative to the workspace.`);
  }
  const segments = inside.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) {
    throw new AppError("invalid", `path: ${path} leads out of the workspace by "..".`);
  }
  return segments;
}

/** `root` is a real path. */
export function confine(root: string): ConfinedFiles {
  return {
    root,
    list: (path) =>
      inFolder(root, toSegments(path), { makes: false }, async (folder) => {
        const found = await readdir(folder, { withFileTypes: true });
        const entries = await Promise.all(
          found.map(async (entry): Promise<Entry | undefined> => {
            const facts = await lstat(join(folder, entry.name)).catch(() => undefined);
            return (
              facts && {
                name: entry.name,
                kind: facts.isFile()
                  ? "file"
                  : facts.isDirectory()
                    ? "folder"
                    : facts.isSymbolicLink()
                      ? "link"
                      : "other",
                size: facts.isFile() ? facts.size : 0,
                modified: Math.round(facts.mtimeMs),
              }
            );
          }),
        );
        return entries.filter((entry) => entry !== undefined).toSorted(byKindAndName);
      }),
    read: (path) =>
      inParent(root, path, { makes: false }, async (folder, name) => {
        const file = await openPlain(join(folder, name), path);
        try {
          const { size } = await file.stat();
          if (size > maxFileBytes) {
            throw new AppError("too_large", `${path} has ${size} bytes; at most ${maxFileBytes} are read.`);
          }
          return await file.readFile();
        } finally {
          await file.close();
        }
      }),
    write: (path, bytes, mode) =>
      inParent(root, path, { makes: true }, async (folder, name) => {
        if (bytes.length > maxFileBytes) {
          throw new AppError("too_large", `${path}: at most ${maxFileBytes} bytes are written.`);
        }
        const before = await lstat(join(folder, name)).catch(() => undefined);
        if (before !== undefined && !before.isFile()) {
          throw notPlain(path);
        }
        // Another name of the file, outside perhaps, keeps its content: a new file takes the place of this name alone.
        const temporary = join(folder, `.${randomBytes(9).toString("base64url")}.tmp`);
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
        const file = await open(temporary, flags, mode ?? before?.mode ?? 0o644);
        try {
          await file.writeFile(bytes);
        } finally {
          await file.close();
        }
        await rename(temporary, join(folder, name)).catch(async (error: unknown) => {
          await unlink(temporary);
          throw error;
        });
      }),
    remove: (path) =>
      inParent(root, path, { makes: false }, async (folder, name) => {
        const facts = await lstat(join(folder, name)).catch(() => undefined);
        if (facts === undefined) {
          throw missing(path);
        }
        if (facts.isDirectory()) {
          throw notPlain(path);
        }
        await unlink(join(folder, name));
      }),
  };
}

function byKindAndName(a: Entry, b: Entry): number {
  return Number(b.kind === "folder") - Number(a.kind === "folder") || (a.name < b.name ? -1 : 1);
}

interface FolderOptions {
  /** True when missing folders are made. */
  readonly makes: boolean;
}

async function inParent<T>(
  root: string,
  path: string,
  way: FolderOptions,
  work: (folder: string, name: string) => Promise<T>,
): Promise<T> {
  const segments = toSegments(path);
  const name = segments.at(-1);
  if (name === undefined) {
    throw notPlain(path);
  }
  return await inFolder(root, segments.slice(0, -1), way, (folder) => work(folder, name));
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens folder after folder, and gives `work` a path that stays with the last one, wherever it is moved. */
async function inFolder<T>(
  root: string,
  segments: readonly string[],
  { makes }: FolderOptions,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  let path = root;
  let handle = await open(root, folderFlags);
  try {
    for (const segment of segments) {
      const next = join(stableOf(handle, path), segment);
      if (makes) {
        await mkdir(next).catch(ignoreExisting);
      }
      const inner = await open(next, folderFlags).catch((error: NodeJS.ErrnoException) => {
        throw toFolderError(error, segments);
      });
      await handle.close();
      handle = inner;
      path = join(path, segment);
    }
    await requireInside(handle, path, root);
    return await work(stableOf(handle, path));
  } finally {
    await handle.close();
  }
}

/** Linux names an open folder by its descriptor; elsewhere the path has to do. */
function stableOf({ fd }: FileHandle, path: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : path;
}

/** A folder that was moved out of the workspace while it was being opened is outside. */
async function requireInside({ fd }: FileHandle, path: string, root: string): Promise<void> {
  const real = process.platform === "linux" ? await readlink(`/proc/self/fd/${fd}`) : await realpath(path);
  if (real !== root && !real.startsWith(`${root}/`)) {
    throw new AppError("invalid", "path: leads out of the workspace.");
  }
}

/** Opens a file that is nothing else and has one name. A pipe is not waited for. */
async function openPlain(place: string, path: string): Promise<FileHandle> {
  const before = await lstat(place).catch(() => undefined);
  if (before === undefined) {
    throw missing(path);
  }
  if (!before.isFile()) {
    throw notPlain(path);
  }
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(place, flags).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EACCES"
      ? new AppError("forbidden", `${path} may not be read by the server's account.`)
      : notPlain(path);
  });
  const facts = await file.stat();
  if (!facts.isFile() || facts.nlink > 1) {
    await file.close();
    throw notPlain(path);
  }
  return file;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") {
    throw new AppError("invalid", `path: the folder cannot be made (${error.code}).`);
  }
}

function toFolderError(error: NodeJS.ErrnoException, segments: readonly string[]): AppError {
  const path = segments.join("/");
  return error.code === "ENOENT"
    ? missing(path)
    : new AppError("invalid", `path: ${path} is no folder, or lies behind a link, which is not followed.`);
}

function missing(path: string): AppError {
  return new AppError("not_found", `${path} does not exist.`);
}

function notPlain(path: string): AppError {
  return new AppError(
    "invalid",
    `path: ${path || "the workspace itself"} is no plain file: folders, links, devices and files with a second name are left alone.`,
  );
}
