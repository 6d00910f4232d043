import type { AutomationParts } from "../parts.ts";
import type { AutomationRow, Claim } from "../tables.ts";
import type { Claims } from "./claims.ts";
import { runClaim } from "./run.ts";

/** Runs of one process at a time; more wait in the database for whoever is free. */
const maxAtOnce = 20;
const beatMs = 2_000;

/** Looks for due automations, on every replica, and runs them. */
export function createScheduler(claims: Claims, parts: AutomationParts) {
  const running = new Set<string>();
  const timers: NodeJS.Timeout[] = [];
  let isStopped = false;
  let looking: Promise<void> | undefined;

  function begin(claim: Claim): void {
    running.add(claim.id);
    void runClaim(claim, claims, parts)
      .catch((error: unknown) =>
        parts.log.error({ err: error, claim: claim.id }, "a run could not be recorded"),
      )
      .finally(() => {
        running.delete(claim.id);
        look();
      });
  }

  async function take(): Promise<void> {
    for (;;) {
      const free = maxAtOnce - running.size;
      if (isStopped || !parts.settings().enabled || free <= 0) {
        return;
      }
      const taken = [...(await claims.stale(free))];
      taken.push(...(taken.length < free ? await claims.due(free - taken.length) : []));
      taken.forEach(begin);
      if (taken.length === 0) {
        return;
      }
    }
  }

  function look(): void {
    looking ??= take()
      .catch((error: unknown) => parts.log.warn({ err: error }, "due automations could not be looked for"))
      .finally(() => (looking = undefined));
  }

  async function beat(): Promise<void> {
    if (running.size > 0) {
      await claims
        .beat([...running])
        .catch((error: unknown) => parts.log.warn({ err: error }, "claims could not be kept"));
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
    },
  };
}
