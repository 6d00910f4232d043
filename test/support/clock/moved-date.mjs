// Loaded by NODE_OPTIONS into every process of a test run with another date: its Date tells that date.
import { moveDate } from "./move-date.mjs";

/** The fixture changes the shift for each suite, and processes that start later inherit it. */
const clock = (globalThis.movedClock = { shift: Number(process.env.TEST_CLOCK_SHIFT ?? 0) });
clock.machineNow = moveDate(clock);
