/** A line of two texts side by side; undefined where one of them has none. */
export interface DiffRow {
  readonly kind: "same" | "changed" | "added" | "removed";
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Lines of a text that differ at most; longer stretches are shown as removed and added. */
const longest = 1_500;

/** Puts the lines of two texts side by side, along their longest common subsequence. */
export function diffLines(before: string, after: string): readonly DiffRow[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) {
    start += 1;
  }
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left.at(-1 - end) === right.at(-1 - end)
  ) {
    end += 1;
  }
  const same = (line: string): DiffRow => ({ kind: "same", before: line, after: line });
  return [
    ...left.slice(0, start).map(same),
    ...pair(compare(left.slice(start, left.length - end), right.slice(start, right.length - end))),
    ...left.slice(left.length - end).map(same),
  ];
}

function compare(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  const removed = (line: string): DiffRow => ({ kind: "removed", before: line, after: undefined });
  const added = (line: string): DiffRow => ({ kind: "added", before: undefined, after: line });
  if (left.length > longest || right.length > longest) {
    return [...left.map(removed), ...right.map(added)];
  }
  const lengths = toLengths(left, right);
  const rows: DiffRow[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    const [a, b] = [left[i] as string, right[j] as string];
    if (a === b) {
      rows.push({ kind: "same", before: a, after: b });
      i += 1;
      j += 1;
    } else if (at(lengths, i + 1, j) >= at(lengths, i, j + 1)) {
      rows.push(removed(a));
      i += 1;
    } else {
      rows.push(added(b));
      j += 1;
    }
  }
  return [...rows, ...left.slice(i).map(removed), ...right.slice(j).map(added)];
}

/** Lengths of the longest common subsequences of what is left from each pair of lines on. */
function toLengths(left: readonly string[], right: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] as Uint16Array;
      row[j] =
        left[i] === right[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

const at = (lengths: readonly Uint16Array[], i: number, j: number): number => lengths[i]?.[j] ?? 0;

/** Removed lines and the added ones that follow them stand in the same rows. */
function pair(rows: readonly DiffRow[]): readonly DiffRow[] {
  const paired: DiffRow[] = [];
  let open: DiffRow[] = [];
  for (const row of rows) {
    if (row.kind === "added" && open.length > 0) {
      const { before } = open.shift() as DiffRow;
      paired.push({ kind: "changed", before, after: row.after });
    } else {
      paired.push(...(row.kind === "removed" ? [] : open));
      open = row.kind === "removed" ? [...open, row] : [];
      paired.push(...(row.kind === "removed" ? [] : [row]));
    }
  }
  return [...paired, ...open];
}

/** The rows around changes, with the number of rows that were left out before each of the others. */
export function foldSame(
  rows: readonly DiffRow[],
  around = 3,
): readonly (DiffRow | { readonly hidden: number })[] {
  const isNear = rows.map((_row, index) =>
    rows.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== "same"),
  );
  const folded: (DiffRow | { readonly hidden: number })[] = [];
  let hidden = 0;
  for (const [index, row] of rows.entries()) {
    if (isNear[index]) {
      folded.push(...(hidden > 0 ? [{ hidden }] : []), row);
      hidden = 0;
    } else {
      hidden += 1;
    }
  }
  return hidden > 0 ? [...folded, { hidden }] : folded;
}
