import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AppError } from "#kernel/errors.ts";

/** The folder that all workspaces lie in. */
export interface Folders {
  /** Its real path; made where it is not there. */
  root(): Promise<string>;
  /** The real path of a workspace's folder. Throws `invalid` for one that is gone, a link or no folder. */
  open(folder: string): Promise<string>;
  /** Makes the folder of a new workspace where there is none. */
  make(folder: string): Promise<string>;
}

const longestSegment = 100;
const mostSegments = 8;

/** A path below GATEWAY_ROOT as it is stored. Throws `invalid` for everything that could lead elsewhere. */
export function toFolder(text: string): string {
  const segments = text.trim().split("/").filter(Boolean);
  const isBad = (segment: string) =>
    segment.startsWith(".") ||
    segment.length > longestSegment ||
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u001f\u007f\\:*?"<>|]/u.test(segment) ||
    segment.trim() !== segment ||
    !segment.isWellFormed();
  if (segments.length === 0 || segments.length > mostSegments || segments.some(isBad)) {
    throw new AppError(
      "invalid",
      "folder: a path below the folder of workspaces, such as team/website, without .. and hidden folders.",
    );
  }
  return segments.join("/");
}

/** True when one of two folders is the other or lies in it, on file systems without case as well. */
export function overlaps(one: string, other: string): boolean {
  const [a, b] = [one, other].map((folder) => `${folder.toLowerCase()}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

/** The folder that all workspaces lie in. */
export function rootOf(config: { readonly root: string; readonly dataDir: string }): string {
  return resolve(config.root || join(config.dataDir, "workspaces"));
}

export function createFolders(config: { readonly root: string; readonly dataDir: string }): Folders {
  const root = async () => {
    const path = rootOf(config);
    await mkdir(path, { recursive: true });
    return await realpath(path);
  };
  const open = async (folder: string) => {
    const path = join(await root(), folder);
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) {
      throw new AppError("invalid", `The folder ${folder} of the workspace is not there any more.`);
    }
    if (real !== path) {
      throw new AppError("invalid", `folder: ${folder} is or lies behind a link, which is not followed.`);
    }
    if (!(await stat(real)).isDirectory()) {
      throw new AppError("invalid", `folder: ${folder} is no folder.`);
    }
    return real;
  };
  return {
    root,
    open,
    async make(folder) {
      const path = join(await root(), folder);
      const above = await deepest(path);
      if (above !== (await realpath(above))) {
        throw new AppError("invalid", `folder: ${folder} is or lies behind a link, which is not followed.`);
      }
      await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
        throw new AppError("invalid", `folder: ${folder} cannot be made (${error.code}).`);
      });
      return await open(folder);
    },
  };
}

/** The longest part of a path that is there. */
async function deepest(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : await deepest(dirname(path));
}
