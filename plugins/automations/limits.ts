import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { nextRuns, type Schedule } from "./recurrence/next-runs.ts";
import { parseRule, wrong } from "./recurrence/rule.ts";
import type { AutomationParts, AutomationSettings } from "./parts.ts";

/** Runs that are looked at for the shortest pause between two. */
const looked = 100;

/**
 * The first run of a rule. Throws `invalid` for a rule that is wrong, ends before it runs, or runs more often than
 * AUTOMATION_MIN_INTERVAL lets members; one that runs once is exempt.
 */
export function requireSchedule(
  schedule: Schedule,
  { caller, now, settings }: { caller: Principal; now: number; settings: AutomationSettings },
): number {
  const { count } = parseRule(schedule.rule);
  const least = caller.role === "admin" || count === 1 ? null : settings.minInterval;
  const runs = nextRuns(schedule, now, least ? looked : 1);
  const [first] = runs;
  if (first === undefined) {
    throw wrong("never runs again. Choose a start or an end that lies ahead.");
  }
  if (least && runs.some((at, turn) => turn > 0 && at - (runs[turn - 1] as number) < least)) {
    throw wrong(`runs more often than every ${least} seconds, the least that is allowed here.`);
  }
  return first;
}

/** Throws `forbidden` for a member who has AUTOMATION_MAX_COUNT automations; call it in a transaction that locks them. */
export function requireRoom(
  caller: Principal,
  count: number,
  { settings }: Pick<AutomationParts, "settings">,
): void {
  const { maxCount } = settings();
  if (caller.role !== "admin" && maxCount !== null && count >= maxCount) {
    throw new AppError(
      "forbidden",
      `You have ${count} automations; ${maxCount} are allowed. Delete one first.`,
    );
  }
}
