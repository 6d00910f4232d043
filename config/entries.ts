import { isDeepStrictEqual } from "node:util";
import { ConfigError, readVariable } from "./environment.ts";
import { openSecrets, plainSecrets, sealSecrets, type SecretCodec } from "./secrets.ts";
import { frozenCopy } from "./setting.ts";
import type { Entry, StoredSetting } from "./setting.ts";
import type { AnyVariable, Environment } from "./variable.ts";

export interface EntriesOptions {
  readonly environment: Environment;
  /** Whether OAuth settings are stored and may change. */
  readonly oauthStored: boolean;
  warn(message: string): void;
}

/** All declared variables with their values in force. */
export class Entries {
  readonly #options: EntriesOptions;
  readonly #byName = new Map<string, Entry>();
  readonly #byKey = new Map<string, Entry>();
  #codec = plainSecrets;
  #sealed = false;

  constructor(options: EntriesOptions) {
    this.#options = options;
  }

  /** From now on no persisted variable can be declared: its stored value would be missed. */
  seal(): void {
    this.#sealed = true;
  }

  /** Stored secrets are opened and sealed with `codec`. */
  useCodec(codec: SecretCodec): void {
    this.#codec = codec;
  }

  /** The row that stores a value of `entry`. */
  toRow({ variable, secrets }: Entry, value: unknown): { key: string; value: unknown } {
    const unreadable = secrets?.unreadable ?? new Map<string, string>();
    const sealed = sealSecrets(variable, variable.toJson(value), { codec: this.#codec, unreadable });
    return { key: variable.key as string, value: sealed };
  }

  /** Names of the variables with a secret that cannot be read. */
  unreadable(): string[] {
    return this.sorted()
      .filter(({ secrets }) => secrets !== undefined && secrets.unreadable.size > 0)
      .map(({ variable }) => variable.name);
  }

  /** Replacements for those of `rows` that hold unencrypted secrets; none without a key. */
  toSealed(rows: readonly StoredSetting[]): { key: string; before: unknown; after: unknown }[] {
    return rows.flatMap(({ key, value }) => {
      const entry = this.#byKey.get(key);
      return this.#codec.encrypts && entry?.secrets?.isPlain === true && entry.variable.secret
        ? [{ key, before: value, after: this.toRow(entry, entry.value).value }]
        : [];
    });
  }

  /** The entry behind a key of the config record. */
  findByKey(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  /** Takes a declaration in and reads its environment value. Throws for a name or key that is taken, naming both owners. */
  take(owner: string, variable: AnyVariable): Entry {
    const known = this.#byName.get(variable.name);
    if (known?.variable === variable) {
      return known;
    }
    const sameKey = variable.key === undefined ? undefined : this.#byKey.get(variable.key);
    const taken = known ?? sameKey;
    if (taken) {
      const what = known ? variable.name : `The key ${variable.key}`;
      throw new Error(`${what} is declared twice, by ${taken.owner} and by ${owner}.`);
    }
    if (variable.persisted && this.#sealed) {
      throw new Error(`${variable.name} of ${owner} is declared after the stored values were read.`);
    }
    const read = readVariable<unknown>(variable, this.#options.environment, this.#options.warn);
    const base = { ...read, value: frozenCopy(read.value) };
    if (!variable.settable && this.#options.environment[variable.name]) {
      this.#options.warn(`${variable.name} has no effect: the process finds it out itself.`);
    }
    if (variable.noEffect !== undefined && base.stated && !isDeepStrictEqual(base.value, variable.default)) {
      this.#options.warn(`${variable.name} has no effect: ${variable.noEffect}.`);
    }
    const entry: Entry = {
      variable,
      owner,
      base,
      value: base.value,
      source: base.source,
      secrets: undefined,
      changedBy: null,
      changedAt: null,
      version: 0,
    };
    this.#byName.set(variable.name, entry);
    if (variable.key !== undefined) {
      this.#byKey.set(variable.key, entry);
    }
    return entry;
  }

  /** Whether a variable of this name was declared. */
  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Finds an entry or throws ConfigError. */
  require(name: string): Entry {
    const entry = this.#byName.get(name);
    if (!entry) {
      throw new ConfigError(name, "is not a known variable");
    }
    return entry;
  }

  /** Finds an entry that may be changed while running, or throws ConfigError with the reason. */
  requireChangeable(name: string): Entry {
    const entry = this.require(name);
    const refusal = this.refusal(entry);
    if (refusal !== undefined) {
      throw new ConfigError(name, refusal);
    }
    return entry;
  }

  /** Why an entry cannot be changed while running, in words that follow its name; undefined when it can. */
  refusal({ variable }: Entry): string | undefined {
    if (!variable.settable) {
      return "is found out by the process itself and cannot be set";
    }
    if (!variable.persisted) {
      return "is read from the environment at the start and cannot be changed while running";
    }
    return variable.oauth && !this.#options.oauthStored
      ? "is read-only while ENABLE_OAUTH_PERSISTENT_CONFIG is off"
      : undefined;
  }

  /** The entries that have a stored value. */
  changeable(): Entry[] {
    return [...this.#byName.values()].filter((entry) => this.refusal(entry) === undefined);
  }

  /** The entries whose places are those of one of these variables, but for the variables themselves. */
  placedBy(names: readonly string[]): Entry[] {
    return this.changeable().filter(
      ({ variable: { name, placedBy } }) =>
        placedBy && names.includes(placedBy.list) && !names.includes(name),
    );
  }

  /** All entries, as they were declared. */
  all(): Entry[] {
    return [...this.#byName.values()];
  }

  /** All entries by name. */
  sorted(): Entry[] {
    return this.all().toSorted((a, b) => (a.variable.name < b.variable.name ? -1 : 1));
  }

  /** Brings the entries in line with their rows, or without one with the environment. Returns the names that changed. */
  apply(rows: readonly StoredSetting[], entries: readonly Entry[]): string[] {
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const changed: string[] = [];
    for (const entry of entries) {
      const row = byKey.get(entry.variable.key as string);
      const before = entry.value;
      if (row && this.#applyRow(entry, row)) {
        entry.source = "stored";
        entry.changedBy = row.updatedBy;
        entry.changedAt = row.updatedAt;
        entry.version = row.version;
      } else {
        Object.assign(entry, {
          value: entry.base.value,
          source: entry.base.source,
          secrets: undefined,
          changedBy: null,
          changedAt: null,
          // A stored value that is left aside has one, too.
          version: row?.version ?? 0,
        });
      }
      if (!isDeepStrictEqual(before, entry.value)) {
        changed.push(entry.variable.name);
      }
    }
    return changed;
  }

  #applyRow(entry: Entry, row: StoredSetting): boolean {
    const { variable } = entry;
    const { json, ...secrets } = openSecrets(variable, row.value, this.#codec);
    const read = variable.fromJson(json);
    // A value that is nothing without its secret is empty as a whole.
    const parsed =
      read.problem !== undefined && secrets.unreadable.size > 0 ? { value: variable.default } : read;
    if (parsed.problem !== undefined) {
      this.#options.warn(`The stored value of ${variable.name} ${parsed.problem}; it is left aside.`);
      return false;
    }
    entry.secrets = secrets;
    // An unchanged value keeps its identity, so that whoever derived something from it need not do so again.
    if (!isDeepStrictEqual(entry.value, parsed.value)) {
      entry.value = frozenCopy(parsed.value);
    }
    return true;
  }
}
