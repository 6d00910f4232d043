import type { AnyVariable } from "./declaration.ts";

/** Encrypts the secrets inside stored settings, text by text. */
export interface SecretCodec {
  /** False without a key that is kept apart from the database: secrets are stored as they are. */
  readonly encrypts: boolean;
  isSealed(text: string): boolean;
  /** `place` is the key of the variable; a sealed text opens under no other. */
  seal(text: string, place: string): string;
  /** The text again; undefined when another key sealed it. */
  open(sealed: string, place: string): string | undefined;
}

/** Stores secrets as they are. */
export const plainSecrets: SecretCodec = {
  encrypts: false,
  isSealed: () => false,
  seal: (text) => text,
  open: () => undefined,
};

/** A stored value whose secrets are readable again. */
export interface OpenedSecrets {
  /** The JSON form; a secret that cannot be read is an empty text. */
  readonly json: unknown;
  /** Place inside the value → the sealed text that cannot be read. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** True when a secret is stored unencrypted. */
  readonly isPlain: boolean;
}

/** Opens the secrets of a stored value. */
export function openSecrets(variable: AnyVariable, stored: unknown, codec: SecretCodec): OpenedSecrets {
  const unreadable = new Map<string, string>();
  let isPlain = false;
  const json = mapSecrets(variable, stored, (text, place) => {
    if (!codec.isSealed(text)) {
      isPlain ||= text !== "";
      return text;
    }
    const opened = codec.open(text, variable.key ?? variable.name);
    if (opened === undefined) {
      unreadable.set(place, text);
    }
    return opened ?? "";
  });
  return { json, unreadable, isPlain };
}

/**
 * Seals the secrets of a JSON form for the store. A secret that is empty because it could not be read stays as it is
 * stored: with the right key it is readable again.
 */
export function sealSecrets(
  variable: AnyVariable,
  json: unknown,
  { codec, unreadable }: { codec: SecretCodec; unreadable: ReadonlyMap<string, string> },
): unknown {
  return mapSecrets(variable, json, (text, place) =>
    text === "" ? (unreadable.get(place) ?? "") : codec.seal(text, variable.key ?? variable.name),
  );
}

function mapSecrets(
  { secret, secretPlaces }: AnyVariable,
  json: unknown,
  change: (text: string, place: string) => string,
): unknown {
  const patterns = secretPlaces?.map((pattern) => pattern.split("."));
  const isSecret = (path: readonly string[]) =>
    patterns === undefined || patterns.some((pattern) => matches(path, pattern));
  const visit = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value === "string") {
      return isSecret(path) ? change(value, path.join(".")) : value;
    }
    if (Array.isArray(value)) {
      return value.map((inner, index) => visit(inner, [...path, String(index)]));
    }
    return typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner, [...path, key])]))
      : value;
  };
  return secret ? visit(json, []) : json;
}

function matches(path: readonly string[], pattern: readonly string[]): boolean {
  return (
    path.length === pattern.length && pattern.every((part, index) => part === "*" || part === path[index])
  );
}
