import type { IdempotencyStore, OwnClaim, StoredAnswer } from "#storage/idempotency-store.ts";
import type { Logger } from "#kernel/log.ts";

/** The claim of one request that runs in this process. Neither call ever rejects. */
export interface LiveClaim {
  /** Keeps the answer; tried again later when the database does not take it now. */
  settle(fingerprint: string, answer: StoredAnswer): Promise<void>;
  /** Gives the key back: the request had no effect. */
  release(): Promise<void>;
}

export interface LiveClaims {
  /** Whether a request of this process has the scope, also when it was asleep for longer than its lease. */
  isHeld(scope: string): boolean;
  hold(own: OwnClaim): LiveClaim;
}

export interface LiveClaimsOptions {
  readonly store: IdempotencyStore;
  readonly log: Pick<Logger, "warn">;
  /** How often claims are renewed; a lease has to outlast some beats. */
  readonly beatMs?: number;
}

/** An answer that cannot be stored must not keep its key for ever. */
const mostTries = 60;

interface Running {
  readonly own: OwnClaim;
  /** The effect is there, so the key stays taken until this is stored. */
  kept?: { readonly fingerprint: string; readonly answer: StoredAnswer; tries: number };
}

/** Renews the claims of requests that still run, so that only those of a process that died are given away. */
export function createLiveClaims({ store, log, beatMs = 5_000 }: LiveClaimsOptions): LiveClaims {
  const running = new Map<string, Running>();
  let timer: NodeJS.Timeout | undefined;

  async function keep({ own, kept }: Running): Promise<void> {
    if (kept === undefined) {
      return;
    }
    kept.tries += 1;
    try {
      await store.settle(own, kept.fingerprint, kept.answer);
      running.delete(own.scope);
    } catch (error) {
      log.warn({ err: error }, "the answer for an Idempotency-Key could not be stored");
      if (kept.tries >= mostTries) {
        running.delete(own.scope);
      }
    }
  }

  async function beat(): Promise<void> {
    timer = undefined;
    try {
      await store.renew(Array.from(running.values(), ({ own }) => own));
      for (const each of running.values()) {
        await keep(each);
      }
    } catch (error) {
      log.warn({ err: error }, "the claims of running requests could not be renewed");
    }
    schedule();
  }

  function schedule(): void {
    if (timer === undefined && running.size > 0) {
      timer = setTimeout(beat, beatMs).unref();
    }
  }

  return {
    isHeld: (scope) => running.has(scope),
    hold(own) {
      const each: Running = { own };
      running.set(own.scope, each);
      schedule();
      return {
        async settle(fingerprint, answer) {
          each.kept = { fingerprint, answer, tries: 0 };
          await keep(each);
        },
        async release() {
          running.delete(own.scope);
          await store.release(own).catch((error: unknown) => {
            log.warn({ err: error }, "the Idempotency-Key of a failed request stays taken for a while");
          });
        },
      };
    },
  };
}
