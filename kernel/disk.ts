import { access, constants, statfs } from "node:fs/promises";

/** A database and an upload need so much to finish what they have begun. */
const leastBytes = 32 * 1024 * 1024;

/** Throws with a sentence when nothing can be written below a folder. */
export async function requireRoom(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new Error("The server's disk cannot be written to.", { cause: error });
  }
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < leastBytes) {
    throw new Error("There is no room left on the server's disk.");
  }
}
