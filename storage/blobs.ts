import { join, resolve } from "node:path";
import { openBucket } from "./blobs/bucket.ts";
import { openFolder } from "./blobs/folder.ts";
import type { BlobOptions, Blobs } from "./blobs/store.ts";
import { StorageError } from "./errors.ts";

export type { BlobOptions, Blobs, ByteRange } from "./blobs/store.ts";

/** Opens the store of bytes that STORAGE_PROVIDER names: a folder in DATA_DIR, or a bucket. Throws StorageError. */
export async function openBlobs(options: BlobOptions): Promise<Blobs> {
  const folder = join(resolve(options.dataDir), "uploads");
  switch (options.storageProvider ?? "") {
    case "":
    case "local":
      return checked(await openFolder(folder));
    case "s3":
      return checked(await openBucket(options, folder));
    default:
      throw new StorageError(
        `STORAGE_PROVIDER "${options.storageProvider}" is not known: leave it empty or use s3`,
      );
  }
}

/** Keys become paths and addresses, so only a form that can be nothing else is let through. */
export function requireKey(key: string): string {
  if (key.length > 500 || !KEY.test(key)) {
    throw new StorageError(`${JSON.stringify(key.slice(0, 100))} is no key of stored bytes`);
  }
  return key;
}

// Parts of letters, digits and _ - . between slashes; no part starts with a dot, so `..` cannot occur.
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

function checked(blobs: Blobs): Blobs {
  return {
    ...blobs,
    write: async (key, bytes, options) => await blobs.write(requireKey(key), bytes, options),
    read: async (key, range) => {
      requireKey(key);
      if (range && !(range.start >= 0 && range.end >= range.start)) {
        throw new StorageError(`Bytes ${range.start}-${range.end} are no range`);
      }
      return await blobs.read(key, range);
    },
    size: async (key) => await blobs.size(requireKey(key)),
    remove: async (key) => await blobs.remove(requireKey(key)),
  };
}
