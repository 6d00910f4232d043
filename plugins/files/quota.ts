import { AppError } from "#kernel/errors.ts";

/** Bytes of a megabyte in limits. */
export const megabyte = 1024 * 1024;

/** Refuses a file for which its owner has no room left. */
export function noRoom(usedBytes: number, quotaBytes: number): AppError {
  const [used, quota] = [usedBytes, quotaBytes].map((bytes) =>
    (bytes / megabyte).toLocaleString("en-US", { maximumFractionDigits: 1 }),
  );
  return new AppError(
    "too_large",
    `There is no room for this file: your files take ${used} of the ${quota} MB that you may store. Delete some of them, or ask an administrator for more room.`,
  );
}
