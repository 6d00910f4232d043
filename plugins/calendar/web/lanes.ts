/** A span of a day in minutes from midnight. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A span with its place among those that overlap it: which lane of how many. */
export interface Laned<T extends Span> {
  readonly span: T;
  readonly lane: number;
  readonly lanes: number;
}

/** Puts spans that overlap side by side, each in the first lane that is free. */
export function toLanes<T extends Span>(spans: readonly T[]): Laned<T>[] {
  const sorted = spans.toSorted((one, other) => one.from - other.from || other.to - one.to);
  const placed: Laned<T>[] = [];
  let group: { span: T; lane: number }[] = [];
  let ends: number[] = [];
  const close = () => {
    placed.push(...group.map((each) => ({ ...each, lanes: ends.length })));
    [group, ends] = [[], []];
  };
  for (const span of sorted) {
    if (group.length > 0 && ends.every((end) => end <= span.from)) {
      close();
    }
    const free = ends.findIndex((end) => end <= span.from);
    const lane = free === -1 ? ends.length : free;
    ends[lane] = span.to;
    group.push({ span, lane });
  }
  close();
  return placed;
}
