/** One line of the report: a goal with what was seen, or a plain figure without one. */
export interface Finding {
  readonly goal: string;
  readonly what: string;
  /** One value a round, each from one pair of measurements. */
  readonly values: readonly number[];
  /** The values must not exceed, or not fall below, this. */
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Written behind the values: × for ratios. */
  readonly unit: string;
  /** Absolute figures, in words. */
  readonly detail?: string;
}

/** Pairs the figures of two contestants round by round. */
export function ratios<T>(
  ours: readonly T[],
  theirs: readonly T[],
  figure: (figures: T) => number,
): number[] {
  return ours.map((each, round) => figure(each) / figure(theirs[round]!));
}

/** A goal that compares two contestants; the detail names both absolute medians. */
export function compare<T>(options: {
  goal: string;
  what: string;
  ours: readonly T[];
  theirs: readonly T[];
  figure: (figures: T) => number;
  figureUnit: string;
  atMost?: number;
  atLeast?: number;
}): Finding {
  const { ours, theirs, figure, figureUnit, ...rest } = options;
  const [a, b] = [median(ours.map(figure)), median(theirs.map(figure))];
  const detail = `${show(a)} against ${show(b)} ${figureUnit}`;
  return { ...rest, values: ratios(ours, theirs, figure), unit: "×", detail };
}

/** Whether the median keeps the goal; a finding without a goal always does, one without a value never. */
export function isMet(finding: Finding): boolean {
  const value = median(finding.values);
  const hasGoal = finding.atMost !== undefined || finding.atLeast !== undefined;
  return !hasGoal || (value <= (finding.atMost ?? Infinity) && value >= (finding.atLeast ?? -Infinity));
}

/** The table of all findings, one a line. */
export function toTable(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => {
    const { values, unit } = finding;
    const spread = `[${show(Math.min(...values))}..${show(Math.max(...values))}]`;
    const seen = `${show(median(values))}${unit} ${spread}`;
    return [finding.goal, finding.what, toGoal(finding), seen, toVerdict(finding), finding.detail ?? ""];
  });
  const all = [["#", "what", "goal", "median [min..max]", "", "absolute"], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
    : sorted[Math.floor(middle)]!;
}

/** A number with three significant digits. */
export function show(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function toGoal(finding: Finding): string {
  if (finding.atMost !== undefined) {
    return `≤ ${finding.atMost}${finding.unit}`;
  }
  return finding.atLeast === undefined ? "–" : `≥ ${finding.atLeast}${finding.unit}`;
}

function toVerdict(finding: Finding): string {
  if (finding.atMost === undefined && finding.atLeast === undefined) {
    return "";
  }
  return isMet(finding) ? "ok" : "FAIL";
}
