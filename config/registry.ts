import { Entries } from "./entries.ts";
import { readVariable } from "./environment.ts";
import { readStored } from "./first-read.ts";
import { persistence } from "./persistence.ts";
import { plainSecrets, type SecretCodec } from "./secrets.ts";
import { type SettingWish, SettingChanges } from "./setting-changes.ts";
import { toSetting } from "./setting.ts";
import type { ChangeRecorder, Setting, SettingPreview, SettingStore } from "./setting.ts";
import type { AnyVariable, Environment, Values, Variable, Variables } from "./variable.ts";

export { ConfigError } from "./environment.ts";
export type { SecretCodec } from "./secrets.ts";
export type { SettingWish } from "./setting-changes.ts";
export { secretMask, SettingsChanged } from "./setting.ts";
export type {
  ChangeRecorder,
  Setting,
  SettingChange,
  SettingPreview,
  SettingStore,
  StoredSetting,
} from "./setting.ts";

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
  readonly #changes: SettingChanges;
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
    this.#changes = new SettingChanges(this.#entries, {
      follow: (store, keys) => this.#follow(store, keys),
      emit: (names) => this.#emit(names),
    });
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
      await store.remove("all");
    }
    this.#entries.useCodec(codec);
    if (this.#followsStore) {
      await readStored(this.#entries, store, this.#warn);
    }
    this.#entries.seal();
    this.#store = store;
  }

  /** Changes variables by name: all of them, or none and a ConfigError for the first that cannot be changed so. */
  async set(changes: Readonly<Record<string, unknown>>, by: string | null): Promise<void> {
    await this.change(
      Object.entries(changes).map(([name, value]) => ({ name, value })),
      by,
    );
  }

  /**
   * Forgets stored values, with those whose places are theirs: the environment's value or the default is in force again.
   */
  async reset(names: readonly string[], by: string | null): Promise<void> {
    await this.change(
      names.map((name) => ({ name, reset: true })),
      by,
    );
  }

  /**
   * Sets and forgets values in one go: all of them or none. Throws ConfigError for one that cannot be changed so, and
   * SettingsChanged when somebody else changed one since the version that the wish names.
   */
  async change(wishes: readonly SettingWish[], by: string | null): Promise<void> {
    const plan = this.#changes.plan(wishes);
    if (plan.sets.length + plan.resets.length > 0) {
      await this.#inTurn(() =>
        this.#followsStore
          ? this.#changes.store(this.#requireStore(), plan, by)
          : this.#changes.holdForSession(plan, by),
      );
    }
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

  /** Hands every later change to `recorder`, in the transaction that stores it; a change that it refuses is not made. */
  recordChanges(recorder: ChangeRecorder): void {
    this.#changes.recorders.push(recorder);
  }

  /** All variables as the settings page shows them, related ones side by side: as declared. No secret among them. */
  describe(): Setting[] {
    return this.#entries.all().map((entry) => toSetting(entry, this.#entries.refusal(entry)));
  }

  /** The variable behind a key of the config record, or undefined. */
  byKey(key: string): Setting | undefined {
    const entry = this.#entries.findByKey(key);
    return entry && toSetting(entry, this.#entries.refusal(entry));
  }

  /** A try without a change: the value as it would be once it is set, secrets masked, whether it differs, or the fault. */
  preview(name: string, given: unknown): SettingPreview {
    return this.#changes.preview(name, given);
  }

  /** The live value of a variable, secrets included. Throws ConfigError for an unknown name. */
  valueOf(name: string): unknown {
    return this.#entries.require(name).value;
  }

  /** The same of a variable whose plugin may be left out: `otherwise` where nothing declares it. */
  valueOr(name: string, otherwise: unknown): unknown {
    return this.#entries.has(name) ? this.valueOf(name) : otherwise;
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

  async #follow(store: SettingStore, keys?: readonly string[]): Promise<void> {
    const rows = await store.load(keys);
    const entries = this.#entries
      .changeable()
      .filter(({ variable }) => !keys || keys.includes(variable.key as string));
    this.#emit(this.#entries.apply(rows, entries));
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
