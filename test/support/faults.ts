/** True for the full counts of `npm run faults`; the suites run a fast form otherwise. */
export const isFull = process.env["FAULTS"] === "full";

/** Picks the count of this form. */
export function times(fast: number, full: number): number {
  return isFull ? full : fast;
}

/** Prints the measured figures of a promise. */
export function report(promise: string, what: string, figures: Record<string, string | number>): void {
  const parts = Object.entries(figures).map(
    ([name, value]) => `${name} ${typeof value === "number" ? Number(value.toFixed(1)) : value}`,
  );
  process.stdout.write(`${promise} ${what}: ${parts.join(", ")}\n`);
}

/** The p-th percentile (0 to 100) of some figures. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}
