import { constants } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { EMBEDDED_FOLDER } from "./folder.ts";

/** A copy of the embedded database beside it, on the same disk, until `remove`. */
export interface DatabaseCopy {
  /** Holds one folder, `database`, that may take the place of the one in DATA_DIR. */
  readonly folder: string;
  remove(): Promise<void>;
}

const prefix = "database-copy-";

/** Makes room for a copy below `dataDir`; `write` puts the database's files into the folder that it is given. */
export async function makeCopy(
  dataDir: string,
  write: (target: string) => Promise<void>,
): Promise<DatabaseCopy> {
  const folder = await mkdtemp(join(dataDir, prefix));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const target = join(folder, EMBEDDED_FOLDER);
    await mkdir(target, { mode: 0o700 });
    await write(target);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Copies the files of a database that nobody writes to meanwhile; without taking room where the disk can share it. */
export async function copyFiles(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

/** Removes what processes left behind that died while they copied. */
export async function removeStaleCopies(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(prefix));
  await Promise.all(names.map((name) => rm(join(dataDir, name), { recursive: true, force: true })));
}
