import { isDeepStrictEqual } from "node:util";
import type { Entries } from "./entries.ts";
import { ConfigError } from "./environment.ts";
import { frozenCopy, secretMask, SettingsChanged, toChange } from "./setting.ts";
import type { ChangeRecorder, Entry, SettingChange, SettingPreview, SettingStore } from "./setting.ts";
import type { AnyVariable } from "./variable.ts";

/** Parts of the registry that changes of settings need. */
export interface ChangesParts {
  /** Brings the entries of `keys` in line with their rows. */
  follow(store: SettingStore, keys: readonly string[]): Promise<void>;
  emit(names: string[]): void;
}

/** Changes of settings: checked, recorded, and stored or held for the running session. */
export class SettingChanges {
  readonly recorders: ChangeRecorder[] = [];
  readonly #entries: Entries;
  readonly #parts: ChangesParts;

  constructor(entries: Entries, parts: ChangesParts) {
    this.#entries = entries;
    this.#parts = parts;
  }

  /** Checks wishes. Throws ConfigError for the first that cannot be fulfilled. */
  plan(wishes: readonly SettingWish[]): Plan {
    const sets = wishes.flatMap((wish) => ("reset" in wish ? [] : this.#check(wish.name, wish.value)));
    const named = new Set(wishes.map(({ name }) => name));
    const forgotten = wishes.flatMap((wish) =>
      "reset" in wish ? [this.#entries.requireChangeable(wish.name)] : [],
    );
    const resets = this.#withPlaced(forgotten).filter(
      (entry) => forgotten.includes(entry) || !named.has(entry.variable.name),
    );
    const seen = new Map(wishes.flatMap(({ name, seen }) => (seen === undefined ? [] : [[name, seen]])));
    return { sets, resets, seen };
  }

  /** Stores what differs from the stored rows. Throws SettingsChanged for other versions than those that were seen. */
  async store(store: SettingStore, { sets, resets, seen }: Plan, by: string | null): Promise<void> {
    const affected = [...this.#withPlaced(sets.map(({ entry }) => entry)), ...resets];
    const keys = affected.map(({ variable }) => variable.key as string);
    // Another process may have changed them unheard: what counts as a change is decided against the stored rows.
    await this.#parts.follow(store, keys);
    const changed = this.#changed(sets);
    if (changed.length + resets.length === 0) {
      return;
    }
    const changes = [
      ...changed.map(({ entry, value }) => toChange(entry, { value, source: "stored" })),
      ...resets.filter(({ source }) => source === "stored").map((entry) => toChange(entry, entry.base)),
    ];
    const writing = {
      save: changed.map(({ entry, value }) => this.#entries.toRow(entry, value)),
      remove: resets.map(({ variable }) => variable.key as string),
      seen: new Map(
        [...changed.map(({ entry }) => entry), ...resets].flatMap(({ variable: { name, key } }) => {
          const version = seen.get(name);
          return version === undefined ? [] : [[key as string, version]];
        }),
      ),
      by,
    };
    await store.change(writing, (transaction) => this.#record(changes, { by, transaction }));
    await this.#parts.follow(store, keys);
  }

  /** Changes the values of this process alone. */
  async holdForSession({ sets, resets, seen }: Plan, by: string | null): Promise<void> {
    const changed = this.#changed(sets);
    const gone = resets.filter(({ value, base }) => !isDeepStrictEqual(value, base.value));
    const stale = [...changed.map(({ entry }) => entry), ...gone].filter(
      ({ variable: { name }, version }) => (seen.get(name) ?? version) !== version,
    );
    if (stale.length > 0) {
      throw new SettingsChanged(stale.map(({ variable }) => variable.key as string));
    }
    const changes = [
      ...changed.map(({ entry, value }) => toChange(entry, { value, source: "stored" })),
      ...gone.map((entry) => toChange(entry, entry.base)),
    ];
    await this.#record(changes, { by, transaction: undefined });
    for (const { entry, value } of changed) {
      entry.value = frozenCopy(value);
      entry.changedBy = by;
      entry.changedAt = Math.floor(Date.now() / 1000);
      entry.version += 1;
    }
    this.#parts.emit([
      ...changed.map(({ entry }) => entry.variable.name),
      ...this.#entries.apply([], resets),
    ]);
  }

  #changed(sets: readonly Wanted[]): Wanted[] {
    return [...sets, ...this.#moved(sets)].filter(
      ({ entry, value }) => !isDeepStrictEqual(entry.value, value),
    );
  }

  /** The plan for one value. */
  preview(name: string, given: unknown): SettingPreview {
    try {
      const [wanted] = this.#isHeld(name, given) ? [] : this.#check(name, given);
      return wanted === undefined
        ? { isChange: false, value: secretMask }
        : {
            isChange: !isDeepStrictEqual(wanted.entry.value, wanted.value),
            value: toChange(wanted.entry, { value: wanted.value, source: "stored" }).after.value,
          };
    } catch (error) {
      if (error instanceof ConfigError) {
        return { problem: error.message };
      }
      throw error;
    }
  }

  /** Whether a value that cannot be changed is asked to stay what it is. */
  #isHeld(name: string, given: unknown): boolean {
    const entry = this.#entries.require(name);
    return (
      this.#entries.refusal(entry) !== undefined &&
      isDeepStrictEqual(entry.variable.fromJson(given).value, entry.value)
    );
  }

  #withPlaced(entries: readonly Entry[]): Entry[] {
    return [...entries, ...this.#entries.placedBy(entries.map(({ variable }) => variable.name))];
  }

  // A form that changes a list alone does not send the values at its places.
  #moved(wanted: readonly Wanted[]): Wanted[] {
    const lists = new Map(
      wanted.map(({ entry, value }) => [entry.variable.name, { before: entry.value, after: value }]),
    );
    return this.#entries.placedBy([...lists.keys()]).map((entry) => {
      const { list, move } = entry.variable.placedBy as NonNullable<AnyVariable["placedBy"]>;
      const { before, after } = lists.get(list) as { before: string[]; after: string[] };
      return {
        entry,
        value: isDeepStrictEqual(before, after) ? entry.value : move(entry.value, before, after),
      };
    });
  }

  #check(name: string, given: unknown): Wanted[] {
    const entry = this.#entries.requireChangeable(name);
    if (entry.variable.secret && given === secretMask) {
      return [];
    }
    const parsed = entry.variable.fromJson(given);
    if (parsed.problem !== undefined) {
      throw new ConfigError(name, parsed.problem);
    }
    return [{ entry, value: parsed.value }];
  }

  async #record(changes: readonly SettingChange[], facts: Parameters<ChangeRecorder>[1]): Promise<void> {
    for (const recorder of changes.length > 0 ? this.recorders : []) {
      await recorder(changes, facts);
    }
  }
}

/** A change of one variable: a value, or the way back to the environment's or the default. */
export type SettingWish = {
  readonly name: string;
  /** The version that whoever wishes it saw; left out, the change is made whatever happened since. */
  readonly seen?: number | undefined;
} & ({ readonly value: unknown } | { readonly reset: true });

/** Wishes that can be fulfilled. */
export interface Plan {
  readonly sets: readonly Wanted[];
  readonly resets: readonly Entry[];
  /** Version by name. */
  readonly seen: ReadonlyMap<string, number>;
}

interface Wanted {
  readonly entry: Entry;
  readonly value: unknown;
}
