import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";

/** The id of the calendar that shows what other plugins run on a schedule; it is never stored. */
export const scheduledTasksId = "__scheduled_tasks__";

/** One run that has been or will be, as the calendar Scheduled Tasks shows it. */
export interface ScheduledEntry {
  /** `auto_<id>` for a coming run, `run_<id>` for one that was. */
  readonly id: string;
  readonly title: string;
  readonly description?: string | undefined;
  /** Epoch milliseconds. */
  readonly startAt: number;
  /** Such as `automation_id`, `chat_id`, `status`. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A plugin that runs work on a schedule. */
export interface ScheduledRuns {
  /** True when this person may have such work; without one who may, the calendar is not shown. */
  isOpen(principal: Principal): boolean;
  /** The person's runs that start from `from` up to `to` (epoch milliseconds), at most `limit` of them. */
  list(
    principal: Principal,
    window: { readonly from: number; readonly to: number; readonly limit: number },
  ): Promise<readonly ScheduledEntry[]>;
}

/** Filled by plugins whose runs stand in the calendar Scheduled Tasks. */
export const scheduledRuns = defineSlot<ScheduledRuns>("calendar.scheduled-runs");
