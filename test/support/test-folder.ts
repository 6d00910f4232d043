import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Writes these files, by their paths, into a new folder and resolves to its path. */
export async function createTestFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** Removes a folder with all that is in it. */
export function removeTestFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
