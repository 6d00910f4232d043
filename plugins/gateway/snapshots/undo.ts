import { createTwoFilesPatch } from "diff";
import { isUtf8 } from "node:buffer";
import { AppError } from "#kernel/errors.ts";
import type { ConfinedFiles } from "../files/confined.ts";
import { type FileChange, type Snapshots, toHash } from "./snapshots.ts";

/** One changed file for people. */
export interface ShownChange {
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  /** A unified diff; null for what is no text or too long. */
  readonly diff: string | null;
}

const longestText = 400_000;

/** The changes of a run as diffs. */
export function showChanges(
  snapshots: Snapshots,
  workspaceId: string,
  changes: readonly FileChange[],
): Promise<ShownChange[]> {
  const textOf = async (hash: string | null) => {
    const bytes = hash === null ? Buffer.alloc(0) : await snapshots.read(workspaceId, hash);
    return bytes.length > longestText || bytes.includes(0) || !isUtf8(bytes)
      ? undefined
      : bytes.toString("utf8");
  };
  return Promise.all(
    changes.map(async ({ path, before, after }): Promise<ShownChange> => {
      const kind = before === null ? "created" : after === null ? "deleted" : "changed";
      const [old, now] = await Promise.all(
        [before, after].map((hash) => textOf(hash).catch(() => undefined)),
      );
      const isShown = old !== undefined && now !== undefined;
      const diff = isShown
        ? createTwoFilesPatch(before ? path : "/dev/null", after ? path : "/dev/null", old, now, "", "", {
            timeout: 1000,
          })
        : undefined;
      return { path, kind, diff: diff ?? null };
    }),
  );
}

/**
 * Puts the files of a run back as they were before it. Throws `conflict` naming files that changed since, before
 * anything is written.
 */
export async function undoChanges(
  files: ConfinedFiles,
  changes: readonly FileChange[],
  { snapshots, workspaceId }: { readonly snapshots: Snapshots; readonly workspaceId: string },
): Promise<void> {
  const moved: string[] = [];
  for (const { path, after } of changes) {
    const now = await files.read(path).then(toHash, () => null);
    if (now !== after) {
      moved.push(path);
    }
  }
  if (moved.length > 0) {
    throw new AppError("conflict", `Changed since the run, so nothing was undone: ${moved.join(", ")}.`);
  }
  const restored = await Promise.all(
    changes.map(async ({ path, before }) => ({
      path,
      bytes: before === null ? undefined : await snapshots.read(workspaceId, before),
    })),
  );
  for (const { path, bytes } of restored) {
    await (bytes === undefined ? files.remove(path) : files.write(path, bytes));
  }
}
