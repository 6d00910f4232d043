import { createSeal, isSealed } from "#kernel/seal.ts";
import type { ValveValues } from "./valve-set.ts";

/** Turns saved valves into what the database keeps, and back. */
export interface ValveVault {
  /** The values themselves, or a sealed text with ENABLE_VALVE_ENCRYPTION. */
  close(values: ValveValues, place: string): unknown;
  /** Reads either form. Throws AppError `unavailable` when the key changed. */
  open(kept: unknown, place: string): ValveValues;
}

/** Creates the one place where valves are encrypted; what was saved before a change of the switch stays readable. */
export function createValveVault(secretKey: string, isEncrypting: () => boolean): ValveVault {
  const seal = createSeal(secretKey, "valves");
  return {
    close: (values, place) => (isEncrypting() ? seal.seal(values, place) : values),
    open: (kept, place) => (isSealed(kept) ? seal.open(kept, place) : (kept ?? {})) as ValveValues,
  };
}

/** Where a function's valves are kept: a sealed value opens nowhere else. */
export function toValvePlace(functionId: string): string {
  return `function:${functionId}`;
}
