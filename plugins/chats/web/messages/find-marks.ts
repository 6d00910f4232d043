/** Names of the marks in the style sheet. */
const [every, shown] = ["found", "found-now"];
const blocks = "p, li, td, th, pre, h1, h2, h3, h4, h5, h6, blockquote, dt, dd, div";
/** More marks on one page help nobody. */
const mostRanges = 2000;

/** Marks what is found in the texts of messages that are in the page; the texts stay as they are. */
export function markHits(
  root: Element,
  pattern: RegExp,
  current?: { id: string; nth: number },
): Range | undefined {
  const ranges: Range[] = [];
  let now: Range | undefined;
  for (const [id, texts] of Map.groupBy(
    root.querySelectorAll<HTMLElement>("[data-text]"),
    (node) => node.dataset["text"],
  )) {
    const own = texts.flatMap((text) => rangesIn(text, pattern));
    ranges.push(...own.slice(0, mostRanges - ranges.length));
    if (current !== undefined && current.id === id) {
      // What the page shows of a message may hold fewer hits than its source.
      now = own[Math.min(current.nth, own.length - 1)];
    }
  }
  if ("highlights" in CSS) {
    CSS.highlights.set(every, new Highlight(...ranges));
    CSS.highlights.set(shown, new Highlight(...(now ? [now] : [])));
  }
  return now;
}

export function clearMarks(): void {
  if ("highlights" in CSS) {
    CSS.highlights.delete(every);
    CSS.highlights.delete(shown);
  }
}

/** Hits in the text of an element, across the elements inside its blocks. */
function rangesIn(root: Element, pattern: RegExp): Range[] {
  const pieces: { node: Node; from: number }[] = [];
  let text = "";
  let block: Element | null | undefined;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent?.closest("button, .sr-only, [aria-hidden='true'], .katex-mathml") === null) {
      const own = parent.closest(blocks);
      text += block === undefined || own === block ? "" : "\n";
      block = own;
      pieces.push({ node, from: text.length });
      text += node.nodeValue ?? "";
    }
  }
  return [...text.matchAll(pattern)].map(({ index, 0: { length } }) => {
    const range = document.createRange();
    const [start, end] = [pieceAt(pieces, index), pieceAt(pieces, index + length - 1)];
    range.setStart(start.node, index - start.from);
    range.setEnd(end.node, Math.min(index + length - end.from, end.node.nodeValue?.length ?? 0));
    return range;
  });
}

/** The last piece that begins at or before the place. */
function pieceAt(
  pieces: readonly { node: Node; from: number }[],
  place: number,
): { node: Node; from: number } {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pieces[middle]?.from ?? 0) <= place) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return pieces[low] as { node: Node; from: number };
}
