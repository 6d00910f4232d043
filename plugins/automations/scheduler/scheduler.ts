import type { AutomationParts } from "../parts.ts";
import type { AutomationRow, Claim } from "../tables.ts";
import type { Claims } from "./claims.ts";
import { replan } from "./replan.ts";
import { runClaim } from "./run.ts";

/** Runs of one process at a time; more wait in the database for whoever is free. */
const maxAtOnce = 60;
const beatMs = 2_000;
/** Automations that one look plans again after the clock was set back. */
const maxReplanned = 100;

/** Looks for due automations, on every replica, and runs them. */
export function createScheduler(claims: Claims, parts: AutomationParts) {
  const running = new Map<string, AbortController>();
  const timers: NodeJS.Timeout[] = [];
  let wake: NodeJS.Timeout | undefined;
  let isStopped = false;
  let looking: Promise<void> | undefined;

  function begin(claim: Claim): void {
    const lost = new AbortController();
    running.set(claim.id, lost);
    void runClaim(claim, lost.signal, { claims, parts })
      .catch((error: unknown) =>
        parts.log.error({ err: error, claim: claim.id }, "a run could not be recorded"),
      )
      .finally(() => {
        running.delete(claim.id);
        look();
      });
  }

  const free = () => (isStopped || !parts.settings().enabled ? 0 : maxAtOnce - running.size);

  async function take(): Promise<void> {
    await replan(parts.transaction, maxReplanned);
    await takeStale();
    for (let isMore = true; isMore && free() > 0;) {
      const taken = await claims.due(free());
      taken.forEach(begin);
      isMore = taken.length > 0;
    }
    await sleepUntilDue();
  }

  async function takeStale(): Promise<void> {
    if (free() > 0) {
      (await claims.stale(free())).forEach(begin);
    }
  }

  /** Between two looks of SCHEDULER_POLL_INTERVAL something may be due: it does not wait for the second. */
  async function sleepUntilDue(): Promise<void> {
    const at = await claims.soonest();
    clearTimeout(wake);
    const ms = at === null ? Number.POSITIVE_INFINITY : at * 1_000 - Date.now();
    if (!isStopped && ms > 0 && ms < parts.settings().pollSeconds * 1_000) {
      wake = setTimeout(look, ms);
    }
  }

  function look(): void {
    looking ??= take()
      .catch((error: unknown) => parts.log.warn({ err: error }, "due automations could not be looked for"))
      .finally(() => (looking = undefined));
  }

  /** Keeps claims alive, lets go of those that another process has by now, and takes what dead ones left behind. */
  async function beat(): Promise<void> {
    try {
      const ids = [...running.keys()];
      if (ids.length > 0) {
        const kept = await claims.beat(ids);
        ids.filter((id) => !kept.has(id)).forEach((id) => running.get(id)?.abort());
      }
      await takeStale();
    } catch (error) {
      parts.log.warn({ err: error }, "claims could not be kept");
    }
  }

  return {
    start() {
      timers.push(
        setInterval(look, parts.settings().pollSeconds * 1_000),
        setInterval(() => void beat(), beatMs),
      );
      look();
    },
    async queue(row: AutomationRow): Promise<void> {
      begin(await claims.now(row));
    },
    async stop() {
      isStopped = true;
      timers.forEach((timer) => clearInterval(timer));
      await looking;
      clearTimeout(wake);
    },
  };
}
