import type { TestContext } from "vitest";

/** A quarantined test's outcome, as the reporter prints it. */
export interface Quarantined {
  readonly reason: string;
  /** The first line of its failure; undefined when it passed. */
  readonly error?: string;
}

/**
 * Runs a test whose outcome does not count, because it is known to fail now and then for `reason`. Every run prints its
 * outcome at the end, and a check allows at most ten in the project.
 *
 * `test("is back to its memory", quarantine("the allocator gives pages back late", async () => { … }))`
 */
export function quarantine(reason: string, run: (context: TestContext) => unknown) {
  return async (context: TestContext): Promise<void> => {
    const note = (outcome: Quarantined) => Object.assign(context.task.meta, { quarantined: outcome });
    try {
      await run(context);
      note({ reason });
    } catch (error) {
      note({ reason, error: String(error).split("\n", 1)[0] ?? "" });
    }
  };
}
