import type { Logger } from "#kernel/log.ts";
import type { ValveSet, ValveValues } from "#kernel/valves/valve-set.ts";
import type { KeptValves } from "#plugins/accounts/service.ts";
import type { ValveVault } from "./valve-vault.ts";

/** Each person's own settings of functions, in memory once they were asked for. */
export interface UserValves {
  /** What the code sees: the person's values over the defaults. At once when the code declares none, or they are known. */
  of(userId: string, id: string, declared: ValveSet | undefined): ValveValues | Promise<ValveValues>;
  saved(userId: string, id: string): Promise<ValveValues>;
  save(userId: string, id: string, values: ValveValues): Promise<void>;
  /** Drops what is in memory, of one person or of all. */
  forget(userId?: string): void;
}

export interface UserValvesOptions {
  readonly kept: KeptValves;
  readonly vault: ValveVault;
  readonly log: Logger;
  /** Tells all replicas that a person's valves changed. */
  announce(userId: string): Promise<void>;
}

type Known = ReadonlyMap<string, ValveValues>;

/** People whose valves stay in memory. */
const maxKnown = 2_000;

export function createUserValves({ kept, vault, log, announce }: UserValvesOptions): UserValves {
  const known = new Map<string, Known>();
  const loading = new Map<string, Promise<Known>>();

  async function read(userId: string): Promise<Known> {
    const rows = Object.entries(await kept.read(userId, "functions"));
    return new Map(rows.map(([id, value]) => [id, open(userId, id, value)]));
  }

  function open(userId: string, id: string, value: unknown): ValveValues {
    try {
      return vault.open(value, toUserPlace(userId, id));
    } catch (error) {
      log.warn(
        { err: error, user: userId, function: id },
        "a person's valves cannot be read and count as none",
      );
      return {};
    }
  }

  function load(userId: string): Promise<Known> {
    const running = loading.get(userId);
    if (running !== undefined) {
      return running;
    }
    const mine: Promise<Known> = read(userId)
      .then((valves) => {
        // A change that came meanwhile has taken this reading out.
        if (loading.get(userId) === mine) {
          remember(userId, valves);
        }
        return valves;
      })
      .finally(() => {
        if (loading.get(userId) === mine) {
          loading.delete(userId);
        }
      });
    loading.set(userId, mine);
    return mine;
  }

  function remember(userId: string, valves: Known): void {
    if (known.size >= maxKnown) {
      known.delete(known.keys().next().value as string);
    }
    known.set(userId, valves);
  }

  const valves: UserValves = {
    of(userId, id, declared) {
      if (declared === undefined) {
        return none;
      }
      const own = known.get(userId);
      return own
        ? declared.complete(own.get(id) ?? none)
        : load(userId).then((loaded) => declared.complete(loaded.get(id) ?? none));
    },
    saved: async (userId, id) => (await load(userId)).get(id) ?? none,
    async save(userId, id, values) {
      await kept.write(userId, { section: "functions", id }, vault.close(values, toUserPlace(userId, id)));
      valves.forget(userId);
      await announce(userId);
    },
    forget(userId) {
      if (userId === undefined) {
        known.clear();
        loading.clear();
      } else {
        known.delete(userId);
        loading.delete(userId);
      }
    },
  };
  return valves;
}

const none: ValveValues = {};

/** Where a person's valves are kept: a sealed value opens nowhere else. */
export function toUserPlace(userId: string, id: string): string {
  return `user:${userId}:function:${id}`;
}
