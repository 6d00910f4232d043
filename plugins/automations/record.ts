import { AppError } from "#kernel/errors.ts";
import { nextRuns } from "./recurrence/next-runs.ts";
import type { AutomationRecord } from "./schema.ts";
import type { AutomationDatabase, AutomationRow, RunRow } from "./tables.ts";

/** Next runs that a record tells. */
export const shownRuns = 5;

export const toRun = ({ id, automation_id, chat_id, status, error, created_at }: RunRow) => ({
  id,
  automation_id,
  chat_id,
  status,
  error,
  created_at,
});

export const toSchedule = (row: Pick<AutomationRow, "data" | "anchor_at" | "time_zone">) => ({
  rule: row.data.rrule,
  anchor: row.anchor_at,
  zone: row.time_zone,
});

/** Rows as the wire has them, each with its last run and the next five. */
export async function toRecords(
  db: AutomationDatabase,
  rows: readonly AutomationRow[],
  now: number,
): Promise<AutomationRecord[]> {
  const ids = rows.map(({ id }) => id);
  const last = ids.length === 0 ? [] : await lastRuns(db, ids);
  return rows.map((row) => {
    const { anchor_at: _anchor, time_zone: _zone, ...record } = row;
    const run = last.find(({ automation_id: id }) => id === row.id);
    return {
      ...record,
      meta: row.meta === null ? null : { ...row.meta },
      data: { ...row.data },
      last_run: run ? toRun(run) : null,
      next_runs: row.is_active && row.next_run_at !== null ? upcoming(row, now) : [],
    };
  });
}

function upcoming(row: AutomationRow, now: number): number[] {
  try {
    return nextRuns(toSchedule(row), now, shownRuns);
  } catch (error) {
    // A rule of an import that is wrong must not hide the list it stands in.
    if (error instanceof AppError) {
      return [];
    }
    throw error;
  }
}

async function lastRuns(db: AutomationDatabase, ids: readonly string[]): Promise<RunRow[]> {
  return await db
    .selectFrom("automation_run")
    .selectAll()
    .distinctOn("automation_id")
    .where("automation_id", "in", ids)
    .orderBy("automation_id")
    .orderBy("created_at", "desc")
    .execute();
}
