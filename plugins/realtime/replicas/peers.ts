/** What a process knows of the others by the numbered texts that it hears. */
export interface Peers {
  /** Notes a text; false when it has been read already, or is this process's own. */
  hear(from: string, number: number): boolean;
  /** One said goodbye. */
  leave(id: string): void;
  /** Takes those that were silent for long for gone. */
  judge(): void;
  /** Something may not have been heard, newcomers among it. */
  doubt(): void;
  /** Ids of those that were heard of lately. */
  known(): readonly string[];
  /** True when there surely are no others. */
  areNone(): boolean;
  /** Runs when one has gone. */
  onGone(handler: (id: string) => void): void;
  /** Runs when something that others sent may not have come. */
  onMissed(handler: () => void): void;
  close(): void;
}

/** A newcomer is heard of within this time; until then everything is sent. */
const unsureMs = 5_000;
/** What is missed within this time is told once. */
const missingMs = 500;

export function createPeers({ id, helloEveryMs }: { id: string; helloEveryMs: number }): Peers {
  const seen = new Map<string, { heardAt: number; number: number }>();
  const left = new Set<string>();
  const goneHandlers: ((id: string) => void)[] = [];
  const missedHandlers: (() => void)[] = [];
  let missing: NodeJS.Timeout | undefined;
  // What this process sends comes back to it. While it does not, others cannot be heard either.
  let ownAt = -Infinity;
  let sureAt = Infinity;
  const hears = () => Date.now() - ownAt < 2 * helloEveryMs;
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
  const hearOwn = () => {
    const now = Date.now();
    sureAt = hears() ? sureAt : now + unsureMs;
    ownAt = now;
  };
  const spareAll = () => seen.forEach((entry) => (entry.heardAt = Date.now()));
  return {
    hear(from, number) {
      const last = seen.get(from)?.number ?? 0;
      if (from === id) {
        hearOwn();
      }
      // A text whose sending seemed to fail is sent again.
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
    judge() {
      if (!hears()) {
        spareAll();
        return;
      }
      const oldest = Date.now() - 3.5 * helloEveryMs;
      [...seen].filter(([, { heardAt }]) => heardAt < oldest).forEach(([silent]) => forget(silent));
    },
    doubt() {
      ownAt = -Infinity;
      spareAll();
      miss();
    },
    known: () => [...seen.keys()],
    areNone: () => seen.size === 0 && hears() && Date.now() >= sureAt,
    onGone: (handler) => void goneHandlers.push(handler),
    onMissed: (handler) => void missedHandlers.push(handler),
    close: () => clearTimeout(missing),
  };
}
