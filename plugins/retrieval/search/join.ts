import type { LoadedPassage } from "./passage-store.ts";

/** A passage with its place in the result. */
export type RankedPassage = LoadedPassage & { readonly score: number };

/** Leaves out passages whose words another, better one has, as copies of a file do. Resolves to both. */
export function withoutCopies<P extends RankedPassage>(passages: readonly P[]): { kept: P[]; copies: P[] } {
  const seen = new Set<string>();
  const [kept, copies]: [P[], P[]] = [[], []];
  for (const passage of passages) {
    const words = passage.content.replaceAll(/\s+/g, " ");
    (seen.has(words) ? copies : kept).push(passage);
    seen.add(words);
  }
  return { kept, copies };
}

/**
 * Joins passages that follow each other in one source and place, so that a model reads the text once and in its order.
 * The better of both says where the joined one stands.
 */
export function joinNeighbours<P extends RankedPassage>(passages: readonly P[]): P[] {
  const joined: (P & { first: number; last: number })[] = [];
  for (const passage of passages) {
    let grown = { ...passage, first: passage.position, last: passage.position };
    let neighbour = findNeighbour(joined, grown);
    let place = joined.length;
    for (; neighbour >= 0; neighbour = findNeighbour(joined, grown)) {
      const other = joined[neighbour] as typeof grown;
      const [before, after] = other.first < grown.first ? [other, grown] : [grown, other];
      grown = {
        ...other,
        content: concatenate(before, after),
        start: before.start,
        end: Math.max(before.end, after.end),
        headings: before.headings,
        first: before.first,
        last: after.last,
      };
      joined.splice(neighbour, 1);
      place = Math.min(place, neighbour);
    }
    joined.splice(place, 0, grown);
  }
  return joined.map(({ first: _first, last: _last, ...passage }) => passage as unknown as P);
}

interface Run {
  readonly sourceId: string;
  readonly page: number | undefined;
  readonly sheet: string | undefined;
  readonly part: string | undefined;
  readonly first: number;
  readonly last: number;
}

function findNeighbour(runs: readonly Run[], { sourceId, page, sheet, part, first, last }: Run): number {
  return runs.findIndex(
    (run) =>
      run.sourceId === sourceId &&
      run.page === page &&
      run.sheet === sheet &&
      run.part === part &&
      (run.last === first - 1 || run.first === last + 1),
  );
}

/** The second text without what the first has already. */
function concatenate(before: RankedPassage, after: RankedPassage): string {
  const shared = before.end - after.start;
  return shared >= 0 ? before.content + after.content.slice(shared) : `${before.content}\n${after.content}`;
}
