import { AppError } from "#kernel/errors.ts";
import type { UploadLimits } from "#kernel/http/upload.ts";
import type { FileStore } from "./store.ts";

/** Bytes of a megabyte in limits. */
export const megabyte = 1024 * 1024;

export interface SizeRules {
  /** RAG_FILE_MAX_SIZE in bytes, or what the store of bytes takes when that is less; null = unlimited. */
  maxBytes(): number | null;
  /** FILE_QUOTA_PER_USER in bytes; null = unlimited. */
  quotaBytes(): number | null;
}

/** Refuses a file for which its owner has no room left. */
export function noRoom(usedBytes: number, quotaBytes: number): AppError {
  const [used, quota] = [usedBytes, quotaBytes].map((bytes) =>
    (bytes / megabyte).toLocaleString("en-US", { maximumFractionDigits: 1 }),
  );
  return new AppError(
    "too_large",
    `There is no room for this file: your files take ${used} of the ${quota} MB that you may store. Delete some under Settings > Files, or ask an administrator for more room.`,
  );
}

/** Bytes that the files of one account take, and the most that they may take. */
export interface Storage {
  readonly bytes: number;
  /** null = unlimited. */
  readonly quota: number | null;
}

export async function storageOf(
  userId: string,
  { store, rules }: { store: Pick<FileStore, "bytesOf">; rules: SizeRules },
): Promise<Storage> {
  return { bytes: await store.bytesOf(userId), quota: rules.quotaBytes() };
}

/** The most bytes that a person may send now, and the error for more. Throws `too_large` where no room is left. */
export async function limitsOf(
  userId: string,
  { store, rules }: { store: Pick<FileStore, "bytesOf">; rules: SizeRules },
): Promise<UploadLimits> {
  const [maxBytes, quota] = [rules.maxBytes(), rules.quotaBytes()];
  if (quota === null) {
    return { maxBytes };
  }
  const used = await store.bytesOf(userId);
  if (used >= quota) {
    throw noRoom(used, quota);
  }
  const room = quota - used;
  return maxBytes === null || room < maxBytes
    ? { maxBytes: room, refusal: noRoom(used, quota) }
    : { maxBytes };
}
