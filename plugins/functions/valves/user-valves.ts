import type { Logger } from "#kernel/log.ts";
import type { ValveSet, ValveValues } from "./valve-set.ts";
import type { KeptValves } from "#plugins/accounts/service.ts";
import type { ValveVault } from "./valve-vault.ts";

/** Each person's own settings of functions, in memory once they were asked for. */
export interface UserValves {
  /** The values that the code sees: the person's over the defaults. At once when the code declares none, or they are known. */
  of(userId: string, id: string, declared: ValveSet | undefined): ValveValues | Promise<ValveValues>;
  saved(userId: string, id: string): Promise<ValveValues>;
  save(userId: string, id: string, values: ValveValues): Promise<void>;
  /** Drops what is in memory, of one person or of all. */
  forget(userId?: string): void;
}

/** The kinds of code that people keep valves for. */
export type ValveSection = "functions" | "tools";

export interface UserValvesOptions {
  readonly section: ValveSection;
  readonly kept: KeptValves;
  readonly vault: ValveVault;
  readonly log: Logger;
  /** Tells all replicas that a person's valves changed. */
  announce(userId: string): Promise<void>;
}

type Known = ReadonlyMap<string, ValveValues>;

export function createUserValves({ section, kept, vault, log, announce }: UserValvesOptions): UserValves {
  function open(userId: string, id: string, value: unknown): ValveValues {
    try {
      return vault.open(value, toUserPlace(userId, { section, id }));
    } catch (error) {
      log.warn(
        { err: error, user: userId, section, id },
        "a person's valves cannot be read and count as none",
      );
      return none;
    }
  }

  const cache = createCache(async (userId) => {
    const rows = Object.entries(await kept.read(userId, section));
    return new Map(rows.map(([id, value]) => [id, open(userId, id, value)]));
  });
  return {
    of(userId, id, declared) {
      if (declared === undefined) {
        return none;
      }
      const own = cache.known(userId);
      return own
        ? complete(declared, own, id)
        : cache.load(userId).then((loaded) => complete(declared, loaded, id));
    },
    saved: async (userId, id) => (await cache.load(userId)).get(id) ?? none,
    async save(userId, id, values) {
      const place = { section, id };
      await kept.write(userId, place, vault.close(values, toUserPlace(userId, place)));
      cache.forget(userId);
      await announce(userId);
    },
    forget: cache.forget,
  };
}

const none: ValveValues = {};

/**
 * The same object for the same declaration, of which each function has its own, and values: checking them takes a while,
 * and each hook asks.
 */
function complete(declared: ValveSet, saved: Known, id: string): ValveValues {
  let ofPerson = completed.get(declared);
  if (ofPerson === undefined) {
    ofPerson = new WeakMap();
    completed.set(declared, ofPerson);
  }
  let values = ofPerson.get(saved);
  if (values === undefined) {
    values = declared.complete(saved.get(id) ?? none);
    ofPerson.set(saved, values);
  }
  return values;
}

const completed = new WeakMap<ValveSet, WeakMap<Known, ValveValues>>();

/** People whose valves stay in memory. */
const maxKnown = 2_000;

/** One reading a person, kept until a change is told. */
function createCache(read: (userId: string) => Promise<Known>) {
  const known = new Map<string, Known>();
  const loading = new Map<string, Promise<Known>>();
  /** Values from before changes may have been missed: better than nothing while the database does not answer. */
  let stale: ReadonlyMap<string, Known> = new Map();

  async function begin(userId: string, isLatest: () => boolean): Promise<Known> {
    try {
      const valves = await read(userId);
      // A change that came meanwhile has taken this reading out.
      if (isLatest()) {
        if (known.size >= maxKnown) {
          known.delete(known.keys().next().value as string);
        }
        known.set(userId, valves);
      }
      return valves;
    } catch (error) {
      const before = stale.get(userId);
      if (before === undefined) {
        throw error;
      }
      return before;
    } finally {
      if (isLatest()) {
        loading.delete(userId);
      }
    }
  }

  return {
    known: (userId: string) => known.get(userId),
    load(userId: string): Promise<Known> {
      const running = loading.get(userId);
      if (running !== undefined) {
        return running;
      }
      const mine: Promise<Known> = begin(userId, () => loading.get(userId) === mine);
      loading.set(userId, mine);
      return mine;
    },
    forget(userId?: string): void {
      if (userId === undefined) {
        stale = new Map(known);
        known.clear();
        loading.clear();
      } else {
        known.delete(userId);
        loading.delete(userId);
      }
    },
  };
}

/** Where a person's valves are kept: a sealed value opens nowhere else. */
export function toUserPlace(userId: string, { section, id }: { section: ValveSection; id: string }): string {
  return `user:${userId}:${section === "functions" ? "function" : "tool"}:${id}`;
}
