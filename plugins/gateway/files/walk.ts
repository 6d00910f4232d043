import type { ConfinedFiles, Entry } from "./confined.ts";

/** A file of a workspace with its path below the root. */
export interface WalkedFile extends Entry {
  readonly path: string;
}

/** Folders that hold what programs made or fetched. */
export const skippedFolders: ReadonlySet<string> = new Set([".git", "node_modules", "__pycache__", ".venv"]);

/** Files below `start`, folder by folder; links and what is no plain file are left out. */
export async function* walk(
  files: ConfinedFiles,
  start: string,
  signal?: AbortSignal,
): AsyncGenerator<WalkedFile> {
  const waiting = [start];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    signal?.throwIfAborted();
    for (const entry of await files.list(folder)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.kind === "folder" && !skippedFolders.has(entry.name)) {
        waiting.push(path);
      } else if (entry.kind === "file") {
        yield { ...entry, path };
      }
    }
  }
}
