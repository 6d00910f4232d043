import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import type { ScheduledEntry, ScheduledRuns } from "#plugins/calendar/service.ts";
import { seconds } from "#storage/clock.ts";
import type { AutomationParts } from "./parts.ts";
import { nextRuns } from "./recurrence/next-runs.ts";
import { toSchedule } from "./record.ts";
import type { AutomationRow } from "./tables.ts";

/** Coming runs of one automation that the calendar shows in full: all of a month for a rule of every hour. */
const mostOfOne = 1_000;
/** A rule with more has each day begin with this many: cut off at the end, its later days would look free. */
const mostOfDay = 24;
const day = 86_400;

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
  return [...due.map((at) => ({ at, hasMore: false })), ...upcoming(row, after, last)].map(
    ({ at, hasMore }) => ({
      id: `auto_${row.id}`,
      title: row.name,
      description: row.data.prompt.slice(0, 500),
      startAt: at * 1_000,
      meta: { automation_id: row.id, model_id: row.data.model_id, ...(hasMore && { has_more: true }) },
    }),
  );
}

/** A run to come; `hasMore` where its day has more runs than are listed. */
interface Coming {
  readonly at: number;
  readonly hasMore: boolean;
}

function upcoming(row: AutomationRow, after: number, last: number): Coming[] {
  try {
    const schedule = toSchedule(row);
    const all = nextRuns(schedule, after, mostOfOne + 1).filter((at) => at < last);
    if (all.length <= mostOfOne) {
      return all.map((at) => ({ at, hasMore: false }));
    }
    const days = Array.from({ length: Math.ceil((last - after) / day) }, (_, index) => after + index * day);
    return days.flatMap((from) => {
      const until = Math.min(from + day, last - 1);
      const runs = nextRuns(schedule, from, mostOfDay + 1).filter((at) => at <= until);
      return runs.slice(0, mostOfDay).map((at) => ({ at, hasMore: runs.length > mostOfDay }));
    });
  } catch (error) {
    // A rule of an import that is wrong must not hide the calendar.
    if (error instanceof AppError) {
      return [];
    }
    throw error;
  }
}
