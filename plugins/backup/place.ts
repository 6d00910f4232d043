import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openBucket } from "#storage/blobs/bucket.ts";
import type { BlobOptions } from "#storage/blobs.ts";
import { StorageError } from "#storage/errors.ts";
import { makeFolder } from "#storage/make-folder.ts";

/** Where backups lie: a folder, or a prefix of a bucket. */
export interface Place {
  /** As people name it. */
  readonly title: string;
  /** Stores a backup; when it fails nothing stays behind. Throws StorageError when the name is taken. */
  write(name: string, bytes: Readable): Promise<{ size: number }>;
  /** Throws StorageError when there is none. */
  open(name: string): Promise<Readable>;
  remove(name: string): Promise<void>;
}

/** A place and a name in it. */
export interface Address {
  readonly place: Place;
  readonly name: string;
}

const ending = ".tar.gz";

/** Such as `millrace-2026-11-28T17-50-00Z.tar.gz`. */
export function nameNow(): string {
  return `millrace-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z${ending}`;
}

/** Reads a file, a folder or `s3://bucket/key`; where no file is named, the name tells the time. */
export async function findAddress(target: string, options: Omit<BlobOptions, "dataDir">): Promise<Address> {
  const bucket = /^s3:\/\/([^/]+)\/?(.*)$/.exec(target);
  if (bucket !== null) {
    const [, bucketName = "", key = ""] = bucket;
    const isFile = key.endsWith(ending);
    const prefix = isFile ? dirname(`/${key}`).slice(1) : key;
    return {
      place: await openBucketPlace({ ...options, s3BucketName: bucketName, s3KeyPrefix: prefix }),
      name: isFile ? basename(key) : nameNow(),
    };
  }
  const path = resolve(target);
  const isFolder = target.endsWith("/") || (existsSync(path) && (await stat(path)).isDirectory());
  return isFolder
    ? { place: openFolderPlace(path), name: nameNow() }
    : { place: openFolderPlace(dirname(path)), name: basename(path) };
}

async function openBucketPlace(options: Omit<BlobOptions, "dataDir">): Promise<Place> {
  const title = `s3://${[options.s3BucketName, options.s3KeyPrefix].filter(Boolean).join("/")}`;
  const bucket = await openBucket({ ...options, dataDir: tmpdir() }, join(tmpdir(), "millrace-backup"));
  return {
    title,
    async write(name, bytes) {
      if ((await bucket.size(name)) !== undefined) {
        throw taken(`${title}/${name}`);
      }
      return await bucket.write(name, bytes);
    },
    async open(name) {
      const bytes = await bucket.read(name);
      if (bytes === undefined) {
        throw missing(`${title}/${name}`);
      }
      return bytes;
    },
    remove: (name) => bucket.remove(name),
  };
}

const unfinished = ".unfinished";

function openFolderPlace(folder: string): Place {
  return {
    title: folder,
    async write(name, bytes) {
      const path = join(folder, name);
      await makeFolder(folder);
      await removeUnfinished(folder);
      if (existsSync(path)) {
        throw taken(path);
      }
      const part = `${path}.${process.pid}${unfinished}`;
      try {
        // It holds hashes of passwords and everybody's chats.
        await pipeline(bytes, createWriteStream(part, { mode: 0o600 }));
        const file = await open(part, "r");
        await file.sync().finally(() => file.close());
        await rename(part, path);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      return { size: (await stat(path)).size };
    },
    async open(name) {
      const path = join(folder, name);
      if (!existsSync(path)) {
        throw missing(path);
      }
      return createReadStream(path);
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

/** What processes left behind that died while they wrote. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number(new RegExp(`\\.(\\d+)\\${unfinished}$`).exec(name)?.[1]);
    if (pid > 0 && pid !== process.pid && !isAlive(pid)) {
      await rm(join(folder, name), { force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const taken = (path: string) => new StorageError(`${path} is there already. Choose another name.`);
const missing = (path: string) => new StorageError(`There is no backup ${path}.`);
