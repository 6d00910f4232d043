import { expect } from "vitest";

/** Fails with one line for each fault. */
export function expectNone(faults: readonly string[]): void {
  expect(faults.length, `\n${faults.join("\n")}\n`).toBe(0);
}
