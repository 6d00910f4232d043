import type { Database } from "#storage/database.ts";
import { createGrants } from "#storage/grants.ts";
import { createIdempotencyStore } from "#storage/idempotency-store.ts";
import { tend } from "#storage/upkeep.ts";
import type { Gathered } from "./gathered.ts";
import type { Job } from "./jobs.ts";

/** The kernel's own scheduled work. */
export function housekeeping(database: Database, { resources }: Pick<Gathered, "resources">): readonly Job[] {
  const answers = createIdempotencyStore(database);
  const grants = createGrants(database);
  return [
    // Answers of keyed requests are promised for a day and are of no use after it.
    {
      id: "kernel.idempotency",
      title: "Removes answers kept for repeated requests",
      every: 3600,
      run: () => answers.sweep(),
    },
    // A grant names its row without a foreign key: what a crash left behind would let a later row of that id in.
    {
      id: "kernel.grants",
      title: "Removes access to things that no longer exist",
      every: 86_400,
      run: async () => void (await grants.sweep(resources)),
    },
    ...(database.kind === "embedded"
      ? [
          {
            id: "kernel.upkeep",
            title: "Maintains the database",
            every: 60,
            run: async () => void (await tend(database)),
          },
        ]
      : []),
  ];
}
