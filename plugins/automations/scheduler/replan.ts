import { seconds } from "#storage/clock.ts";
import { nextRuns } from "../recurrence/next-runs.ts";
import { toSchedule } from "../record.ts";
import type { AutomationDatabase, AutomationRow, Transact } from "../tables.ts";

/** Seconds by which clocks of replicas may differ. */
const clockTolerance = 60;
/** Times of one rule that are looked through for one that has not run. */
const mostSlots = 1_000;

/**
 * Plans up to `max` automations again that ran at a time that now lies ahead: the clock was set back. Each time that has
 * run is skipped, and those that the wrong clock skipped come (R7).
 */
export async function replan(transaction: Transact, max: number): Promise<void> {
  const now = seconds();
  await transaction(async (tx) => {
    const rows = await tx
      .selectFrom("automation")
      .selectAll()
      .where("is_active", "=", true)
      .where("last_run_at", ">", now + clockTolerance)
      .where("next_run_at", "is not", null)
      .limit(max)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of rows) {
      const anchor = toAnchor(row, now);
      const next = await findUnused(tx, { ...row, anchor_at: anchor }, now);
      const change = { anchor_at: anchor, last_run_at: now, next_run_at: next };
      await tx.updateTable("automation").set(change).where("id", "=", row.id).execute();
    }
  });
}

/** A start that lies ahead by now would silence the rule until then; one that counts its runs is not counted anew. */
const toAnchor = ({ anchor_at: anchor, data }: AutomationRow, now: number): number =>
  /COUNT=/i.test(data.rrule) ? anchor : Math.min(anchor, now);

/** The first time after a moment that has neither run nor is being run. */
async function findUnused(tx: AutomationDatabase, row: AutomationRow, now: number): Promise<number | null> {
  const used = new Set<number | null>();
  for (const table of ["automation_run", "automation_claim"] as const) {
    const slots = await tx
      .selectFrom(table)
      .select("slot")
      .where("automation_id", "=", row.id)
      .where("slot", ">", now)
      .execute();
    slots.forEach(({ slot }) => used.add(slot));
  }
  const times = upcoming(row, now, Math.min(used.size + 1, mostSlots));
  return times.find((at) => !used.has(at)) ?? row.next_run_at;
}

/** The next times of an automation; none for a rule that cannot be read any more, which must not stop the others. */
export function upcoming(row: AutomationRow, after: number, max: number): number[] {
  try {
    return nextRuns(toSchedule(row), after, max);
  } catch {
    return [];
  }
}
