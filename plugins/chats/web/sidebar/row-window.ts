/** Where rows of different heights begin: `offsets[i]` is the top of row i, the last entry the height of all. */
export function toOffsets<Row>(rows: readonly Row[], heightOf: (row: Row) => number): number[] {
  const offsets = [0];
  let top = 0;
  for (const row of rows) {
    top += heightOf(row);
    offsets.push(top);
  }
  return offsets;
}

/** The rows in sight, `spare` pixels around included: from the first to before the last. */
export function rowsInSight(
  offsets: readonly number[],
  { top, height, spare }: { top: number; height: number; spare: number },
): { first: number; last: number } {
  const count = offsets.length - 1;
  return {
    first: Math.min(count, rowAt(offsets, Math.max(0, top - spare))),
    last: Math.min(count, rowAt(offsets, top + height + spare) + 1),
  };
}

/** How far to scroll so that a row stands in sight, `margin` pixels away from the edges; undefined when it does. */
export function scrollToShow(
  offsets: readonly number[],
  index: number,
  { top, height, margin }: { top: number; height: number; margin: number },
): number | undefined {
  const begin = offsets[index] ?? 0;
  const end = offsets[index + 1] ?? begin;
  if (begin < top + margin) {
    return Math.max(0, begin - margin);
  }
  return end > top + height - margin ? Math.max(0, end - height + margin) : undefined;
}

/** The row at a distance from the top. */
function rowAt(offsets: readonly number[], at: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] as number) <= at) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
