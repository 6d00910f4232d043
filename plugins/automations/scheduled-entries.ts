import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import type { ScheduledEntry, ScheduledRuns } from "#plugins/calendar/service.ts";
import { seconds } from "#storage/clock.ts";
import type { AutomationParts } from "./parts.ts";
import { nextRuns } from "./recurrence/next-runs.ts";
import { toSchedule } from "./record.ts";
import type { AutomationRow } from "./tables.ts";

/** Coming runs of one automation that the calendar shows: a rule of every minute would fill it alone. */
const mostOfOne = 200;

/** Runs of automations for the calendar Scheduled Tasks: those that were, and those of active rules to come (contract 9). */
export function createScheduledEntries({
  db,
  settings,
}: Pick<AutomationParts, "db" | "settings">): ScheduledRuns {
  return {
    isOpen: (principal) => settings().enabled && hasPermission(principal, "features.automations"),

    async list({ userId }, { from, to, limit }) {
      const [first, last] = [Math.ceil(from / 1_000), Math.ceil(to / 1_000)];
      const ended = await db
        .selectFrom("automation_run")
        .innerJoin("automation", "automation.id", "automation_run.automation_id")
        .select([
          "automation_run.id",
          "automation_run.chat_id",
          "automation_run.status",
          "automation_run.error",
        ])
        .select(["automation_run.created_at", "automation.id as automation_id", "automation.name"])
        .where("automation.user_id", "=", userId)
        .where("automation_run.created_at", ">=", first)
        .where("automation_run.created_at", "<", last)
        .orderBy("automation_run.created_at", "desc")
        .limit(limit)
        .execute();
      const past = ended.map(({ id, name, error, created_at: at, ...meta }) => ({
        id: `run_${id}`,
        title: name,
        description: error ?? undefined,
        startAt: at * 1_000,
        meta,
      }));
      const rows = await db
        .selectFrom("automation")
        .selectAll()
        .where("user_id", "=", userId)
        .where("is_active", "=", true)
        .where("next_run_at", "<", last)
        .orderBy("next_run_at")
        .limit(limit)
        .execute();
      const coming = rows.flatMap((row) => toComing(row, { first, last }));
      return [...past, ...coming].slice(0, limit);
    },
  };
}

function toComing(row: AutomationRow, { first, last }: { first: number; last: number }): ScheduledEntry[] {
  const after = Math.max(first, seconds()) - 1;
  // A time that is due by now stands at its time until it was taken.
  const due =
    row.next_run_at !== null && row.next_run_at <= after && row.next_run_at >= first ? [row.next_run_at] : [];
  return [...due, ...upcoming(row, after).filter((at) => at < last)].map((at) => ({
    id: `auto_${row.id}`,
    title: row.name,
    description: row.data.prompt.slice(0, 500),
    startAt: at * 1_000,
    meta: { automation_id: row.id, model_id: row.data.model_id },
  }));
}

function upcoming(row: AutomationRow, after: number): number[] {
  try {
    return nextRuns(toSchedule(row), after, mostOfOne);
  } catch (error) {
    // A rule of an import that is wrong must not hide the calendar.
    if (error instanceof AppError) {
      return [];
    }
    throw error;
  }
}
