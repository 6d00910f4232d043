/** Epoch seconds, the unit of every time column that does not say otherwise. */
export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Epoch nanoseconds; each call of this process gives a larger value than the one before. */
export function nanoseconds(): bigint {
  const elapsed = process.hrtime.bigint() - anchor.monotonic;
  const now = anchor.epoch + elapsed;
  const drift = BigInt(Date.now()) * 1_000_000n - now;
  // A changed or corrected system clock wins over the anchor as soon as they differ visibly.
  if (drift > TOLERANCE || drift < -TOLERANCE) {
    anchor = createAnchor();
  }
  last = now > last ? now : last + 1n;
  return last;
}

const TOLERANCE = 5_000_000n;
let anchor = createAnchor();
let last = 0n;

function createAnchor(): { monotonic: bigint; epoch: bigint } {
  return { monotonic: process.hrtime.bigint(), epoch: BigInt(Date.now()) * 1_000_000n };
}
