import { createHash } from "node:crypto";
import { access, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#kernel/errors.ts";
import { type ConfinedFiles, maxFileBytes } from "../files/confined.ts";
import { walk } from "../files/walk.ts";

/** Path → SHA-256 of the content. */
type Manifest = Readonly<Record<string, string>>;

/** What a run did to one file; null where there was or is none. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

const mostFiles = 20_000;
const mostBytes = 200 * 1024 * 1024;
/** Snapshots of this many runs are kept for each workspace. */
const keptRuns = 20;

/** The files of workspaces as they were before runs, so that what a run changed can be shown and undone. */
export interface Snapshots {
  /** Keeps all files as they are now. Throws `too_large` for a workspace that is too large to be kept. */
  take(files: ConfinedFiles, place: SnapshotPlace): Promise<void>;
  /** What changed since; the changed files are kept as they are now. */
  compare(files: ConfinedFiles, place: SnapshotPlace): Promise<FileChange[]>;
  has(place: SnapshotPlace): Promise<boolean>;
  /** Content that was kept. */
  read(workspaceId: string, hash: string): Promise<Buffer>;
  forget(workspaceId: string): Promise<void>;
}

export interface SnapshotPlace {
  readonly workspaceId: string;
  readonly runId: string;
}

export function toHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** `folder` holds one folder a workspace, with files named by their hash and one list of files a run. */
export function createSnapshots(folder: string): Snapshots {
  const pathOf = (workspaceId: string, ...rest: string[]) => join(folder, workspaceId, ...rest);
  const keep = async (workspaceId: string, hash: string, bytes: Uint8Array) => {
    const path = pathOf(workspaceId, "files", hash);
    await access(path).catch(() => writeFile(path, bytes, { mode: 0o600 }));
  };
  const manifestPath = ({ workspaceId, runId }: SnapshotPlace) =>
    pathOf(workspaceId, "runs", `${runId}.json`);
  const readManifest = async (path: string) => JSON.parse(await readFile(path, "utf8")) as Manifest;
  const scan = async (
    files: ConfinedFiles,
    kept: (path: string, hash: string, bytes: Buffer) => Promise<void>,
  ): Promise<Manifest> => {
    const found: Record<string, string> = {};
    let [count, total] = [0, 0];
    for await (const { path, size } of walk(files, "")) {
      [count, total] = [count + 1, total + size];
      if (count > mostFiles || total > mostBytes) {
        throw new AppError("too_large", "The workspace is too large for a record of what the run changed.");
      }
      const bytes = size > maxFileBytes ? undefined : await files.read(path).catch(() => undefined);
      if (bytes !== undefined) {
        const hash = toHash(bytes);
        await kept(path, hash, bytes);
        found[path] = hash;
      }
    }
    return found;
  };
  const prune = async (workspaceId: string) => {
    const names = await readdir(pathOf(workspaceId, "runs"));
    const old = names.toSorted().slice(0, -keptRuns);
    await Promise.all(old.map((name) => rm(pathOf(workspaceId, "runs", name), { force: true })));
  };
  return {
    async take(files, place) {
      await mkdir(pathOf(place.workspaceId, "files"), { recursive: true, mode: 0o700 });
      await mkdir(pathOf(place.workspaceId, "runs"), { recursive: true, mode: 0o700 });
      const manifest = await scan(files, (_path, hash, bytes) => keep(place.workspaceId, hash, bytes));
      await writeFile(manifestPath(place), JSON.stringify(manifest), { mode: 0o600 });
      await prune(place.workspaceId);
    },
    async compare(files, place) {
      const before = await readManifest(manifestPath(place));
      const after = await scan(files, async (path, hash, bytes) => {
        if (before[path] !== hash) {
          await keep(place.workspaceId, hash, bytes);
        }
      });
      const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
      return paths
        .filter((path) => before[path] !== after[path])
        .map((path) => ({ path, before: before[path] ?? null, after: after[path] ?? null }));
    },
    has: (place) =>
      access(manifestPath(place)).then(
        () => true,
        () => false,
      ),
    read: (workspaceId, hash) =>
      readFile(pathOf(workspaceId, "files", hash)).catch(() => {
        throw new AppError("not_found", "This version of the file is not kept any more.");
      }),
    forget: (workspaceId) => rm(pathOf(workspaceId), { recursive: true, force: true }),
  };
}
