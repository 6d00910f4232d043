import type { SearchTrace, TracedPassage } from "../service.ts";
import type { Scored } from "./keyword.ts";
import type { LoadedPassage } from "./passage-store.ts";

type ListName = "keyword" | "vector" | "fused" | "reranked";
type StepName = "embed" | "keyword" | "vector" | "rerank";

/** Notes how a search comes to its result; without `explain` it only counts times. */
export interface Tracer {
  list(name: ListName, scored: readonly Scored[]): void;
  cut(passages: readonly { readonly key: number; readonly score: number }[], reason: string): void;
  note(text: string): void;
  time<R>(step: StepName, run: () => Promise<R>): Promise<R>;
  /** `load` reads the passages that the lists name. */
  finish(
    load: (ids: readonly number[]) => Promise<Map<number, LoadedPassage>>,
  ): Promise<SearchTrace | undefined>;
}

/** Passages of a list that are shown. */
const shown = 50;

/** Begins the trace of one search. */
export function createTracer(explains: boolean): Tracer {
  const begun = performance.now();
  const lists: Partial<Record<ListName, readonly Scored[]>> = {};
  const cut: (Scored & { reason: string })[] = [];
  const notes: string[] = [];
  const times = { embed: 0, keyword: 0, vector: 0, rerank: 0, total: 0 };

  return {
    list: (name, scored) => void (lists[name] = scored.slice(0, shown)),
    cut: (passages, reason) =>
      void cut.push(...passages.slice(0, shown).map(({ key: id, score }) => ({ id, score, reason }))),
    note: (text) => void notes.push(text),
    async time(step, run) {
      const from = performance.now();
      try {
        return await run();
      } finally {
        times[step] += performance.now() - from;
      }
    },
    async finish(load) {
      times.total = performance.now() - begun;
      if (!explains) {
        return undefined;
      }
      const named = [...Object.values(lists).flat(), ...cut].map(({ id }) => id);
      const passages = await load([...new Set(named)]);
      const toTraced = ({ id, score }: Scored): TracedPassage[] => {
        const passage = passages.get(id);
        return passage === undefined
          ? []
          : [{ id: passage.id, name: passage.name, content: passage.content, score, page: passage.page }];
      };
      return {
        keyword: (lists.keyword ?? []).flatMap(toTraced),
        vector: (lists.vector ?? []).flatMap(toTraced),
        fused: (lists.fused ?? []).flatMap(toTraced),
        reranked: lists.reranked?.flatMap(toTraced),
        cut: cut.flatMap((entry) => toTraced(entry).map((traced) => ({ ...traced, reason: entry.reason }))),
        times,
        notes,
      };
    },
  };
}
