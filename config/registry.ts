import { isDeepStrictEqual } from "node:util";
import { Entries } from "./entries.ts";
import { ConfigError, readVariable } from "./environment.ts";
import { persistence } from "./persistence.ts";
import { plainSecrets, type SecretCodec } from "./secrets.ts";
import { frozenCopy, secretMask, toSetting } from "./setting.ts";
import type { Entry, Setting, SettingStore, StoredSetting } from "./setting.ts";
import type { AnyVariable, Environment, Values, Variable, Variables } from "./variable.ts";

export { ConfigError } from "./environment.ts";
export type { SecretCodec } from "./secrets.ts";
export { secretMask } from "./setting.ts";
export type { Setting, SettingStore, StoredSetting } from "./setting.ts";

export interface RegistryOptions {
  /** Told of wrong values that something else replaces; never of secrets. */
  warn?(message: string): void;
}

/** The environment of this process, read once: the only place that does so. */
export function processEnvironment(): Environment {
  // oxlint-disable-next-line node/no-process-env
  return { ...process.env };
}

/** Builds the registry over an environment; warnings go to the process's own channel unless told otherwise. */
export function createRegistry(
  environment: Environment = processEnvironment(),
  options: RegistryOptions = {},
): ConfigRegistry {
  return new ConfigRegistry(environment, options);
}

/** The values in force of all declared variables, and the only way to change them. */
export class ConfigRegistry {
  readonly #entries: Entries;
  readonly #warn: (message: string) => void;
  readonly #followsStore: boolean;
  readonly #resetsStore: boolean;
  readonly #listeners = new Set<(names: string[]) => void>();
  #store: SettingStore | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(environment: Environment, options: RegistryOptions) {
    const warn = (message: string) =>
      options.warn ? options.warn(message) : process.emitWarning(message, "ConfigWarning");
    const isOn = (variable: Variable<boolean>) => readVariable(variable, environment, warn).value;
    this.#warn = warn;
    this.#followsStore = isOn(persistence.persistentConfig);
    this.#resetsStore = isOn(persistence.resetConfigOnStart);
    this.#entries = new Entries({ environment, warn, oauthStored: isOn(persistence.oauthPersistentConfig) });
  }

  /**
   * Takes an owner's variables in and returns their live values. Throws ConfigError for a wrong environment value and
   * an error that names both owners when two declare the same name or key.
   */
  declare<const V extends Variables>(owner: string, variables: V): Values<V> {
    const values = {};
    for (const [property, variable] of Object.entries(variables)) {
      const entry = this.#entries.take(owner, variable);
      Object.defineProperty(values, property, { enumerable: true, get: () => entry.value });
    }
    return Object.freeze(values) as Values<V>;
  }

  /**
   * Reads the stored values, whose secrets `codec` opens; on a first launch it stores those that the environment states.
   * Call once, after all declarations.
   */
  async attach(store: SettingStore, codec: SecretCodec = plainSecrets): Promise<void> {
    if (this.#store) {
      throw new Error("The configuration already has its store.");
    }
    if (this.#resetsStore) {
      await store.remove("all", null);
    }
    this.#entries.useCodec(codec);
    if (this.#followsStore) {
      const rows = await this.#readAll(store);
      await this.#storeFirstLaunch(store, new Set(rows.map((row) => row.key)));
    }
    this.#entries.seal();
    this.#store = store;
  }

  /** Changes variables by name: all of them, or none and a ConfigError for the first that cannot be changed so. */
  async set(changes: Readonly<Record<string, unknown>>, by: string | null): Promise<void> {
    const wanted = Object.entries(changes).flatMap(([name, value]) => this.#check(name, value));
    if (wanted.length === 0) {
      return;
    }
    await this.#inTurn(async () => {
      if (!this.#followsStore) {
        this.#setForSession([...wanted, ...this.#moved(wanted)], by);
        return;
      }
      const store = this.#requireStore();
      const keys = this.#withPlaced(wanted.map(({ entry }) => entry)).map(
        ({ variable }) => variable.key as string,
      );
      // Another process may have changed them unheard: what counts as a change is decided against the stored rows.
      await this.#follow(store, keys);
      const entries = [...wanted, ...this.#moved(wanted)]
        .filter(({ entry, value }) => !isDeepStrictEqual(entry.value, value))
        .map(({ entry, value }) => this.#entries.toRow(entry, value));
      if (entries.length > 0) {
        await store.save(entries, by);
        await this.#follow(store, keys);
      }
    });
  }

  /**
   * Forgets stored values, with those whose places are theirs: the environment's value or the default is in force again.
   */
  async reset(names: readonly string[], by: string | null): Promise<void> {
    const entries = this.#withPlaced(names.map((name) => this.#entries.requireChangeable(name)));
    if (entries.length === 0) {
      return;
    }
    await this.#inTurn(async () => {
      if (!this.#followsStore) {
        this.#emit(this.#entries.apply([], entries));
        return;
      }
      const store = this.#requireStore();
      const keys = entries.map((entry) => entry.variable.key as string);
      await store.remove(keys, by);
      await this.#follow(store, keys);
    });
  }

  /** Reads stored values again, because another process changed them; all of them when no keys are named. */
  async refresh(keys?: readonly string[]): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#store && this.#followsStore) {
        await this.#follow(this.#store, keys);
      }
    });
  }

  /** Calls the listener with the names whose values changed, here or elsewhere. Returns how to stop that. */
  onChange(listener: (names: string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** All variables by name, as the settings page shows them: no secret among them. */
  describe(): Setting[] {
    return this.#entries
      .sorted()
      .map((entry) => toSetting(entry, this.#entries.refusal(entry) !== undefined));
  }

  /** The variable behind a key of the config record, or undefined. */
  byKey(key: string): Setting | undefined {
    const entry = this.#entries.findByKey(key);
    return entry && toSetting(entry, this.#entries.refusal(entry) !== undefined);
  }

  /** The live value of a variable, secrets included. Throws ConfigError for an unknown name. */
  valueOf(name: string): unknown {
    return this.#entries.require(name).value;
  }

  /** The JSON form of a live value, as stored and exported, secrets included. Throws ConfigError for an unknown name. */
  jsonOf(name: string): unknown {
    const entry = this.#entries.require(name);
    return entry.variable.toJson(entry.value);
  }

  /** All declarations by name, for the docs. */
  declarations(): { readonly owner: string; readonly variable: AnyVariable }[] {
    return this.#entries.sorted().map(({ owner, variable }) => ({ owner, variable }));
  }

  async #readAll(store: SettingStore): Promise<StoredSetting[]> {
    const rows = await store.load();
    this.#entries.apply(rows, this.#entries.changeable());
    for (const name of this.#entries.unreadable()) {
      this.#warn(`The secret of ${name} was stored with another WEBUI_SECRET_KEY; enter it again.`);
    }
    // Stored before there was a key to encrypt them with.
    const plain = this.#entries.toSealed(rows);
    if (plain.length > 0) {
      await store.rewrite(plain);
      const keys = plain.map(({ key }) => key);
      this.#entries.apply(
        await store.load(keys),
        keys.flatMap((key) => this.#entries.findByKey(key) ?? []),
      );
    }
    return rows;
  }

  // A default is not stored, so that a later release may better it; nor is the substitute of a wrong value.
  async #storeFirstLaunch(store: SettingStore, present: ReadonlySet<string>): Promise<void> {
    const fresh = this.#entries
      .changeable()
      .filter(({ base, variable }) => base.stated && !present.has(variable.key as string));
    if (fresh.length === 0) {
      return;
    }
    const entries = fresh.map((entry) => this.#entries.toRow(entry, entry.base.value));
    await store.save(entries, null);
    this.#entries.apply(await store.load(entries.map((entry) => entry.key)), fresh);
  }

  async #follow(store: SettingStore, keys?: readonly string[]): Promise<void> {
    const rows = await store.load(keys);
    const entries = this.#entries
      .changeable()
      .filter(({ variable }) => !keys || keys.includes(variable.key as string));
    this.#emit(this.#entries.apply(rows, entries));
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

  #setForSession(wanted: readonly Wanted[], by: string | null): void {
    const changed = wanted.filter(({ entry, value }) => !isDeepStrictEqual(entry.value, value));
    for (const { entry, value } of changed) {
      entry.value = frozenCopy(value);
      entry.changedBy = by;
      entry.changedAt = Math.floor(Date.now() / 1000);
    }
    this.#emit(changed.map(({ entry }) => entry.variable.name));
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

  #requireStore(): SettingStore {
    if (!this.#store) {
      throw new Error("The configuration has no store yet.");
    }
    return this.#store;
  }

  // One change at a time: what is applied last is then also what was read last.
  async #inTurn(run: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => {});
    await turn;
  }

  #emit(names: string[]): void {
    if (names.length === 0) {
      return;
    }
    for (const listener of this.#listeners) {
      try {
        listener(names);
      } catch (error) {
        this.#warn(
          `A listener to changed settings failed: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  }
}

interface Wanted {
  readonly entry: Entry;
  readonly value: unknown;
}
