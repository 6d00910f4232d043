/** The other replicas of this deployment, known by the numbered texts that arrive from them. */
export interface Membership {
  /** Records a text; false for a duplicate and for this process's own. */
  observe(from: string, number: number): boolean;
  /** Removes a replica that said goodbye. */
  leave(id: string): void;
  /** Removes replicas that were silent for too long. */
  expire(): void;
  /** Assumes that texts were missed, those of new replicas among them. */
  markUncertain(): void;
  /** Ids of the replicas that sent something lately. */
  known(): readonly string[];
  /** True when there are certainly no other replicas. */
  isAlone(): boolean;
  /** Runs when a replica has gone. */
  onGone(handler: (id: string) => void): void;
  /** Runs when texts of other replicas may have been missed. */
  onMissed(handler: () => void): void;
  close(): void;
}

/** New replicas become known within this time; until then everything is sent. */
const unsureMs = 5_000;
/** Gaps within this time are reported once. */
const missingMs = 500;

export function createMembership({ id, helloEveryMs }: { id: string; helloEveryMs: number }): Membership {
  const seen = new Map<string, { heardAt: number; number: number }>();
  const left = new Set<string>();
  const goneHandlers: ((id: string) => void)[] = [];
  const missedHandlers: (() => void)[] = [];
  let missing: NodeJS.Timeout | undefined;
  // The process receives its own texts, too. While they do not arrive, those of others may be missed as well.
  let ownAt = -Infinity;
  let sureAt = Infinity;
  const isHearing = () => Date.now() - ownAt < 2 * helloEveryMs;
  const forget = (gone: string) => {
    if (seen.delete(gone)) {
      goneHandlers.forEach((handler) => handler(gone));
    }
  };
  const miss = () => {
    missing ??= setTimeout(() => {
      missing = undefined;
      missedHandlers.forEach((handler) => handler());
    }, missingMs).unref();
  };
  const observeOwn = () => {
    const now = Date.now();
    sureAt = isHearing() ? sureAt : now + unsureMs;
    ownAt = now;
  };
  const spareAll = () => seen.forEach((entry) => (entry.heardAt = Date.now()));
  return {
    observe(from, number) {
      const last = seen.get(from)?.number ?? 0;
      if (from === id) {
        observeOwn();
      }
      // A text is sent again when its sending seemed to fail, so duplicates are dropped.
      if (from === id || left.has(from) || number <= last) {
        return false;
      }
      seen.set(from, { heardAt: Date.now(), number });
      if (number > last + 1) {
        miss();
      }
      return true;
    },
    leave(gone) {
      left.add(gone);
      forget(gone);
    },
    expire() {
      if (!isHearing()) {
        spareAll();
        return;
      }
      const oldest = Date.now() - 3.5 * helloEveryMs;
      [...seen].filter(([, { heardAt }]) => heardAt < oldest).forEach(([silent]) => forget(silent));
    },
    markUncertain() {
      ownAt = -Infinity;
      spareAll();
      miss();
    },
    known: () => [...seen.keys()],
    isAlone: () => seen.size === 0 && isHearing() && Date.now() >= sureAt,
    onGone: (handler) => void goneHandlers.push(handler),
    onMissed: (handler) => void missedHandlers.push(handler),
    close: () => clearTimeout(missing),
  };
}
