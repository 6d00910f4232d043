import { isDeepStrictEqual } from "node:util";
import type { EnvironmentValue } from "./environment.ts";
import type { OpenedSecrets } from "./secrets.ts";
import type { AnyVariable, VariableKind } from "./variable.ts";

/** One row of the config record; `updatedAt` in epoch seconds. */
export interface StoredSetting {
  readonly key: string;
  readonly value: unknown;
  readonly updatedAt: number;
  readonly updatedBy: string | null;
  /** Another one after each change. */
  readonly version: number;
}

/** A change of a variable as its history keeps it: no secret in it. */
export interface SettingChange {
  readonly name: string;
  readonly before: Pick<Setting, "value" | "source">;
  readonly after: Pick<Setting, "value" | "source">;
}

/** Keeps changes; `transaction` is the one that stores them, undefined where nothing is stored. */
export type ChangeRecorder = (
  changes: readonly SettingChange[],
  facts: { readonly by: string | null; readonly transaction: unknown },
) => Promise<void>;

/** Runs in the transaction of a change. */
export type WithinChange = (transaction: unknown) => Promise<void>;

/** Rows to store and to remove in one transaction. */
export interface StoreChange {
  readonly save: readonly { readonly key: string; readonly value: unknown }[];
  readonly remove: readonly string[];
  /** Version by key as it was seen, 0 for no row: another one there refuses the change with SettingsChanged. */
  readonly seen: ReadonlyMap<string, number>;
  readonly by: string | null;
}

/** Somebody else changed settings since they were read. */
export class SettingsChanged extends Error {
  override readonly name = "SettingsChanged";
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super(`Changed meanwhile: ${keys.join(", ")}`);
    this.keys = keys;
  }
}

/** The finding of `ConfigRegistry.preview` about a value. */
export type SettingPreview =
  | { readonly isChange: boolean; readonly value: unknown }
  | { readonly problem: string };

/** Where persisted values rest; whoever implements it announces changes, so that other processes call `refresh`. */
export interface SettingStore {
  load(keys?: readonly string[]): Promise<StoredSetting[]>;
  save(entries: { key: string; value: unknown }[], by: string | null): Promise<void>;
  remove(keys: readonly string[] | "all"): Promise<void>;
  change(change: StoreChange, within: WithinChange): Promise<void>;
  /** Stores the same values in another form, with author and time kept; a value that is no longer `before` is skipped. */
  rewrite(changes: readonly { key: string; before: unknown; after: unknown }[]): Promise<void>;
}

/** A variable as the settings page shows it. */
export interface Setting {
  readonly name: string;
  readonly key: string | null;
  readonly kind: VariableKind;
  readonly owner: string;
  readonly group: string | null;
  readonly text: string;
  readonly persisted: boolean;
  readonly secret: boolean;
  /** JSON form of the default; masked like the value. */
  readonly default: unknown;
  /** JSON form of the value in force; `secretMask` stands for a secret that is set. */
  readonly value: unknown;
  /** For a value changed for the running session only, this stays what it was and `changedAt` tells of the change. */
  readonly source: "environment" | "stored" | "default";
  /** The environment's value, masked like the one in force; undefined where it has none. */
  readonly environment: unknown;
  /** True when the environment states another value than the one in force. */
  readonly environmentDiffers: boolean;
  /** Whether a stored secret is encrypted; null for what is no secret or is not stored. */
  readonly encrypted: boolean | null;
  /** Places inside the value whose secret cannot be read; an empty text stands for the value itself. */
  readonly enterAgain: readonly string[];
  readonly readOnly: boolean;
  /** Why it cannot be changed while running, in words that follow its name; null when it can. */
  readonly locked: string | null;
  /** Changes with each change of the stored value; 0 without one. */
  readonly version: number;
  /** The words that a `oneOf` can be. */
  readonly choices: readonly string[] | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly changedBy: string | null;
  /** Epoch seconds. */
  readonly changedAt: number | null;
}

/** A declared variable with its value in force. */
export interface Entry {
  readonly variable: AnyVariable;
  readonly owner: string;
  /** The value without a stored row. */
  readonly base: EnvironmentValue<unknown>;
  value: unknown;
  source: Setting["source"];
  /** Of the stored row; undefined without one. */
  secrets: Omit<OpenedSecrets, "json"> | undefined;
  changedBy: string | null;
  changedAt: number | null;
  version: number;
}

/** Stands for a secret that is set; `set` takes it to mean "unchanged". */
export const secretMask = "********";

/** Shows an entry without telling secrets. */
export function toSetting(entry: Entry, locked: string | undefined): Setting {
  const { variable } = entry;
  return {
    name: variable.name,
    key: variable.key ?? null,
    kind: variable.kind,
    owner: entry.owner,
    group: variable.group ?? null,
    text: variable.text,
    persisted: variable.persisted,
    secret: variable.secret,
    default: shown(variable, variable.default),
    value: shown(variable, entry.value),
    source: entry.source,
    environment: entry.base.stated ? shown(variable, entry.base.value) : undefined,
    environmentDiffers: entry.base.stated && !isDeepStrictEqual(entry.base.value, entry.value),
    encrypted: isEncrypted(entry),
    enterAgain: [...(entry.secrets?.unreadable.keys() ?? [])],
    readOnly: locked !== undefined,
    locked: locked ?? null,
    version: entry.version,
    choices: variable.values ?? null,
    min: variable.min ?? null,
    max: variable.max ?? null,
    changedBy: entry.changedBy,
    changedAt: entry.changedAt,
  };
}

/** An entry's change, secrets masked. */
export function toChange(
  { variable, value, source }: Entry,
  next: Pick<Entry, "value" | "source">,
): SettingChange {
  return {
    name: variable.name,
    before: { value: shown(variable, value), source },
    after: { value: shown(variable, next.value), source: next.source },
  };
}

/** A copy that nobody can change: values are handed out by reference on every read. */
export function frozenCopy<T>(value: T): T {
  return typeof value === "object" && value !== null ? freeze(structuredClone(value)) : value;
}

function shown(variable: AnyVariable, value: unknown): unknown {
  const json: unknown = variable.toJson(value);
  return variable.secret && isSet(json) ? secretMask : json;
}

function isEncrypted({ variable, value, secrets }: Entry): boolean | null {
  const isStored = secrets !== undefined && (secrets.unreadable.size > 0 || isSet(variable.toJson(value)));
  return variable.secret && isStored ? !secrets.isPlain : null;
}

function isSet(json: unknown): boolean {
  if (json === null || json === "") {
    return false;
  }
  return typeof json !== "object" || Object.keys(json).length > 0;
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) {
      freeze(inner);
    }
  }
  return Object.freeze(value);
}
