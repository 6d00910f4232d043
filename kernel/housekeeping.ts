import type { Database } from "#storage/database.ts";
import { createIdempotencyStore } from "#storage/idempotency-store.ts";
import type { Job } from "./jobs.ts";

/** The kernel's own scheduled work. */
export function housekeeping(database: Database): readonly Job[] {
  const answers = createIdempotencyStore(database);
  return [
    // Answers of keyed requests are promised for a day and are of no use after it.
    { id: "kernel.idempotency", every: 3600, run: () => answers.sweep() },
  ];
}
