/** Larger middles are shown as removed and added as a whole: the table of the search would take too long. */
const maxCells = 4_000_000;

/** Lines of both texts in order, each behind " " (in both), "-" (only before) or "+" (only after). */
export function toLineDiff(before: string, after: string): string[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(left.length, right.length) && left[start] === right[start]) {
    start += 1;
  }
  let end = 0;
  const room = Math.min(left.length, right.length) - start;
  while (end < room && left[left.length - 1 - end] === right[right.length - 1 - end]) {
    end += 1;
  }
  const kept = (line: string) => ` ${line}`;
  return [
    ...left.slice(0, start).map(kept),
    ...diffMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map(kept),
  ];
}

function diffMiddle(left: readonly string[], right: readonly string[]): string[] {
  const width = right.length + 1;
  if ((left.length + 1) * width > maxCells) {
    return [...left.map((line) => `-${line}`), ...right.map((line) => `+${line}`)];
  }
  // lengths[at] is the longest common sequence of what follows row and column.
  const lengths = new Uint32Array((left.length + 1) * width);
  const lengthAt = (row: number, column: number) => lengths[row * width + column] as number;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        left[row] === right[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      lines.push(` ${left[row]}`);
      row += 1;
      column += 1;
    } else if (
      column >= right.length ||
      (row < left.length && lengthAt(row + 1, column) >= lengthAt(row, column + 1))
    ) {
      lines.push(`-${left[row]}`);
      row += 1;
    } else {
      lines.push(`+${right[column]}`);
      column += 1;
    }
  }
  return lines;
}
