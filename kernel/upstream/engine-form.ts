import type { AnyVariable } from "#config/variable.ts";
import { AppError } from "#kernel/errors.ts";
import { isMasked, maskKey } from "./mask.ts";

export interface EngineFormOptions {
  /** By property, as a plugin declares them. */
  readonly variables: Readonly<Record<string, AnyVariable>>;
  /** Values of now, by property. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Property of a secret → properties of the addresses it is sent to. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
}

/** Settings of engines as administrators read and write them. */
export interface EngineForm {
  /** Values by the variables' names; secrets masked (promise S107). */
  read(): Record<string, unknown>;
  /**
   * Values that differ from those of now, by name. Settings that come back as they were shown are not changed, so that
   * they go on following the environment. Throws `invalid` for the mask of no stored value, and for an address at
   * another origin whose secret is not entered anew: a secret never follows an address that others entered.
   */
  toChanges(given: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

export function createEngineForm({ variables, settings, addresses }: EngineFormOptions): EngineForm {
  const nameOf = (property: string) => (variables[property] as AnyVariable).name;
  const isSame = (property: string, given: unknown) => {
    const { name, secret } = variables[property] as AnyVariable;
    if (!secret || !isMasked(String(given))) {
      return JSON.stringify(given) === JSON.stringify(settings[property]);
    }
    if (given === maskKey(String(settings[property]))) {
      return true;
    }
    throw new AppError("invalid", `${name}: is the mask of no stored value.`);
  };
  const requireSecrets = (changes: Readonly<Record<string, unknown>>) => {
    for (const [secret, places] of Object.entries(addresses)) {
      const isKept = changes[nameOf(secret)] === undefined && settings[secret] !== "";
      const hasMoved = places.some((place) => {
        const moved = changes[nameOf(place)];
        return moved !== undefined && !isSamePlace(moved, settings[place]);
      });
      if (isKept && hasMoved) {
        throw new AppError(
          "invalid",
          `${nameOf(secret)}: enter it again for the new address, or leave it empty.`,
        );
      }
    }
  };
  return {
    read: () =>
      Object.fromEntries(
        Object.entries(variables).map(([property, { name, secret }]) => [
          name,
          secret ? maskKey(String(settings[property])) : settings[property],
        ]),
      ),
    toChanges(given) {
      const changes: Record<string, unknown> = {};
      for (const property of Object.keys(variables)) {
        const name = nameOf(property);
        const value = given[name];
        if (value !== undefined && value !== null && !isSame(property, value)) {
          changes[name] = value;
        }
      }
      requireSecrets(changes);
      return changes;
    },
  };
}

function isSamePlace(a: unknown, b: unknown): boolean {
  return URL.parse(String(a))?.origin === URL.parse(String(b))?.origin;
}
