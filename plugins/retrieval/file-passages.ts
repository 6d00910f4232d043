import type { FileIndex, PassageSearch } from "#plugins/files/service.ts";
import type { Retrieval } from "./service.ts";

/** Searches files that a caller may read, for the tools of chats. */
export function searchPassages({ search }: Pick<Retrieval, "search">): PassageSearch {
  return {
    async search({ files, query, count, signal }) {
      const { passages } = await search({
        scope: { files: files.map(({ id }) => id), collections: [] },
        queries: [query],
        settings: { topK: count, rerankTopK: count },
        signal,
      });
      return passages.flatMap(({ fileId, content, score }) =>
        fileId === undefined ? [] : [{ fileId, content, score: Math.min(1, Math.max(0, score)) }],
      );
    },
  };
}

/** Counts the passages of files, and those that search by meaning finds. */
export function countOf({ progress }: Pick<Retrieval, "progress">): FileIndex {
  return {
    id: "retrieval",
    async count(fileIds) {
      const states = await progress(fileIds);
      return new Map([...states].map(([id, { passages: total, embedded }]) => [id, { total, embedded }]));
    },
  };
}
