import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder with those that it lies in, unless it is there. Node's own way tries without end where a file system
 * takes no folder and says that something is missing, as /proc does.
 */
export async function makeFolder(path: string): Promise<void> {
  await make(resolve(path));
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (await isFolder(path)) {
      return;
    }
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await isFolder(parent))) {
      throw error;
    }
    await make(parent);
    await make(path);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
