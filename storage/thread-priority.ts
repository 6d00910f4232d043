import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { basename } from "node:path";

/**
 * Lets this worker thread step back. Where the event loop wants the same processor as a statement or a document that is
 * read, the event loop has it: many wait for each of its turns, which are short. Linux gives each thread a priority of
 * its own; elsewhere all stay alike.
 */
export function letOthersGoFirst(): void {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
    setPriority(thread, Math.min(PRIORITY_LOW, getPriority(thread) + PRIORITY_BELOW_NORMAL));
  } catch {
    // A system that does not let a thread step back is slower under load, and right all the same.
  }
}
