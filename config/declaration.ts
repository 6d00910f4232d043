import type { ZodType } from "zod";
import { checkValue } from "./check.ts";
import type { Parsed } from "./parse.ts";

export type VariableKind =
  | "bool"
  | "int"
  | "number"
  | "text"
  | "list"
  | "json"
  | "duration"
  | "oneOf"
  | "boolOrText";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface VariableOptions<T> {
  /** Dot key in the config record; persisted variables need one. */
  readonly key?: string;
  /** The environment counts on the first launch; afterwards the stored value wins. */
  readonly persisted?: boolean;
  /** Never shown, listed or logged. */
  readonly secret?: boolean;
  /** Where the secrets of a JSON value stand, such as `*.key`; left out, every text in it is one. */
  readonly secretPlaces?: readonly string[];
  /** Heading under which the settings page shows it; see `grouped`. */
  readonly group?: string;
  /** One sentence for the docs and the settings page. */
  readonly text: string;
  /** Why the variable changes nothing; follows its text, and is warned about when the environment sets it. */
  readonly noEffect?: string;
  /** Other environment names of the same meaning; the main name wins. */
  readonly aliases?: readonly string[];
  /** Former environment name; it counts only when neither the name nor an alias is set. */
  readonly was?: string;
  /** Used when the former name decides and its value is empty or wrong. */
  readonly whenWas?: T;
  /** What an empty environment value means; without it, empty is the same as not set. */
  readonly whenEmpty?: T;
  /** Used, with a warning, in place of a wrong environment value; without it, the start is refused. */
  readonly whenInvalid?: T;
  /** A wrong environment value is warned about and the default used. */
  readonly ignoreInvalid?: boolean;
  /** Smallest and largest number; beyond them a value is wrong. */
  readonly min?: number;
  readonly max?: number;
  /** Read-only while ENABLE_OAUTH_PERSISTENT_CONFIG is off. */
  readonly oauth?: boolean;
  /** False for a fact that the process finds out itself. */
  readonly settable?: boolean;
  /** A default that depends on the environment or differs per start, and the words that stand for it in the docs. */
  readonly computed?: { readonly shown: string; from(environment: Environment): T };
  /** The list whose places this value's are, and what becomes of the value when that list alone is changed. */
  readonly placedBy?: {
    readonly list: string;
    move(value: T, before: readonly string[], after: readonly string[]): T;
  };
  /** A rule beyond the type. Returns what is wrong in words that follow the name, or nothing. */
  check?(value: NonNullable<T>): string | undefined;
}

/** One declared variable: facts, and the translations between text, JSON and value. */
export interface Variable<T> extends Omit<VariableOptions<T>, "check"> {
  readonly name: string;
  readonly kind: VariableKind;
  readonly default: T;
  readonly persisted: boolean;
  readonly secret: boolean;
  readonly oauth: boolean;
  readonly settable: boolean;
  readonly aliases: readonly string[];
  /** The values a `oneOf` can take. */
  readonly values?: readonly string[];
  /** Shape of the JSON form; its input is what the settings routes accept and the config record holds. */
  readonly schema: ZodType<T>;
  /** Reads an environment text. */
  fromText(text: string): Parsed<T>;
  /** Reads a JSON value: a stored row or a settings form, where a text in the environment's form will do too. */
  fromJson(value: unknown): Parsed<T>;
  /** The JSON form of a value. */
  toJson(value: T): unknown;
}

// A declaration unites variables of every type; only `any` lets a record hold them all.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyVariable = Variable<any>;
export type Variables = Readonly<Record<string, AnyVariable>>;
export type Values<V extends Variables> = {
  readonly [K in keyof V]: V[K] extends Variable<infer T> ? T : never;
};

/** The differences between kinds of variables. */
export interface Kind<T> {
  readonly kind: VariableKind;
  readonly schema: ZodType<T>;
  readonly values?: readonly string[];
  read(raw: string): Parsed<unknown>;
  toJson?(value: T): unknown;
}

/** Puts a declaration together from its facts and its kind. Throws TypeError for a persisted variable without a key. */
export function declare<T>(name: string, value: T, options: VariableOptions<T>, kind: Kind<T>): Variable<T> {
  if (options.persisted && options.key === undefined) {
    throw new TypeError(`${name} is persisted and needs a key.`);
  }
  const { check, ...facts } = options;
  const checked = (given: unknown) => checkValue(kind.schema, given, check);
  const fromText = (raw: string): Parsed<T> => {
    const parsed = kind.read(raw);
    return parsed.problem === undefined ? checked(parsed.value) : parsed;
  };
  return Object.freeze({
    ...facts,
    text:
      options.noEffect === undefined ? options.text : `${options.text}. Has no effect: ${options.noEffect}`,
    ...(kind.values && { values: kind.values }),
    name,
    kind: kind.kind,
    default: value,
    persisted: options.persisted ?? false,
    secret: options.secret ?? false,
    oauth: options.oauth ?? false,
    settable: options.settable ?? true,
    aliases: options.aliases ?? [],
    schema: kind.schema,
    fromText,
    fromJson: (given: unknown) =>
      fromJson(given, { kind, fromText, checked, empty: emptyMeaning(value, options) }),
    toJson: (given: T) => (kind.toJson ? kind.toJson(given) : given),
  });
}

interface Reading<T> {
  readonly kind: Kind<T>;
  readonly empty: T | undefined;
  fromText(raw: string): Parsed<T>;
  checked(given: unknown): Parsed<T>;
}

function fromJson<T>(given: unknown, { kind, empty, fromText, checked }: Reading<T>): Parsed<T> {
  if (typeof given !== "string" || kind.kind === "json" || kind.kind === "text") {
    return checked(given);
  }
  // Settings forms send an emptied number field as an empty text.
  return given.trim() === "" && empty !== undefined ? { value: empty } : fromText(given);
}

function emptyMeaning<T>(value: T, options: VariableOptions<T>): T | undefined {
  return options.whenEmpty ?? (value === null || options.whenEmpty === null ? (null as T) : undefined);
}
