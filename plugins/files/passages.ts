import type { Slot } from "#kernel/service.ts";
import type { FileIndex } from "./service.ts";

/** Adds to files how far the search by meaning is with them, as `data.passages` (contract, ruling 46). */
export type CountPassages = <File extends { id: string; data: Record<string, unknown> }>(
  files: readonly File[],
) => Promise<File[]>;

/** Asks the plugins that index files; without one nothing is added. */
export function countPassages(indexes: Slot<FileIndex>): CountPassages {
  return async (files) => {
    const ids = files.map(({ id }) => id);
    const known = await Promise.all(indexes.list().map((index) => index.count(ids)));
    return files.map((file) => {
      const passages = known.map((counts) => counts.get(file.id)).find((count) => count !== undefined);
      return passages === undefined ? file : { ...file, data: { ...file.data, passages } };
    });
  };
}
