import type { Messages } from "../data/tree.ts";
import type { ChatMessage } from "../data/types.ts";

/** A line of the map: a message, or several that follow one another without a branch. */
export type MapRow = {
  /** The message, or the first of several. */
  readonly id: string;
  /** How often an older version was taken on the way from the beginning. */
  readonly depth: number;
  /** Part of the branch that the page shows. */
  readonly isShown: boolean;
} & (
  | { readonly kind: "message"; readonly message: ChatMessage; readonly isAlternative: boolean }
  | { readonly kind: "run"; readonly count: number }
);

/** Longer stretches without a branch are folded to their first and last message. */
const longestStretch = 4;

interface Place {
  readonly message: ChatMessage;
  readonly depth: number;
  readonly isAlternative: boolean;
}

/** All messages from the first to the newest; of several versions the older ones come first and stand further in. */
export function toMapRows(messages: Messages, shownIds: readonly string[]): readonly MapRow[] {
  const shown = new Set(shownIds);
  const rows: MapRow[] = [];
  let stretch: Place[] = [];
  const flush = () => {
    rows.push(...foldStretch(stretch, shown));
    stretch = [];
  };
  const roots = [...messages.values()].filter(({ parentId }) => parentId === null || !messages.has(parentId));
  const waiting = toPlaces(roots, 0).toReversed();
  const seen = new Set<string>();
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    if (seen.has(place.message.id)) {
      continue;
    }
    seen.add(place.message.id);
    const children = place.message.childrenIds.flatMap((id) => messages.get(id) ?? []);
    if (place.isAlternative) {
      flush();
    }
    stretch.push(place);
    if (children.length !== 1) {
      flush();
    }
    waiting.push(...toPlaces(children, place.depth).toReversed());
  }
  flush();
  return rows;
}

/** The newest of several goes on below its parent; the others are set in. */
const toPlaces = (siblings: readonly ChatMessage[], depth: number): Place[] =>
  siblings.map((message, index) => ({
    message,
    depth: index < siblings.length - 1 ? depth + 1 : depth,
    isAlternative: siblings.length > 1,
  }));

function foldStretch(stretch: readonly Place[], shown: ReadonlySet<string>): readonly MapRow[] {
  const toRow = ({ message, depth, isAlternative }: Place): MapRow => ({
    kind: "message",
    id: message.id,
    message,
    depth,
    isAlternative,
    isShown: shown.has(message.id),
  });
  const [first, second] = stretch;
  const last = stretch.at(-1);
  if (stretch.length <= longestStretch || !first || !second || !last) {
    return stretch.map(toRow);
  }
  const { id } = second.message;
  const run: MapRow = {
    kind: "run",
    id,
    count: stretch.length - 2,
    depth: first.depth,
    isShown: shown.has(id),
  };
  return [toRow(first), run, toRow(last)];
}
