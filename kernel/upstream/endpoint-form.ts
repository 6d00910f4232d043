import { AppError, ProviderError } from "#kernel/errors.ts";
import { providerWords } from "#kernel/http/provider-words.ts";
import { toPlainUrl } from "./endpoint.ts";
import { isMasked, maskKey } from "./mask.ts";

/** The address that a secret was sent for. */
export interface Place {
  readonly url: string;
  /** Its index in what was sent; undefined where it stands alone. */
  readonly index?: number | undefined;
}

/** Where the secrets of stored addresses stand. */
export interface StoredSecrets {
  readonly urls: readonly string[];
  /** The secret of the address at this place. */
  read(index: number): string | null | undefined;
}

/**
 * The secret that was meant: what was sent, or the stored one when its mask was sent back. Masks may be alike, so the
 * same place counts first. Throws `invalid` when no stored secret of the same address has that mask, so that a key never
 * moves to another address unseen.
 */
export function unmask(given: string, { url, index }: Place, { urls, read }: StoredSecrets): string {
  if (!isMasked(given)) {
    return given;
  }
  const places = [...(index === undefined ? [] : [index]), ...urls.keys()];
  const found = places.find((at) => toPlainUrl(urls[at] ?? "") === url && maskKey(read(at) ?? "") === given);
  const secret = found === undefined ? undefined : read(found);
  if (!secret) {
    throw new AppError(
      "invalid",
      "A masked key was sent for an address that has no such key; send the whole key.",
    );
  }
  return secret;
}

/** Throws `invalid` where there is a problem. */
export function requireNoProblem(problem: string | undefined, name: string): void {
  if (problem) {
    throw new AppError("invalid", `${name} cannot be used: ${problem}.`);
  }
}

type Prefixed = Readonly<Record<string, { readonly prefix_id?: string | null | undefined }>>;

/**
 * Throws `invalid` where a prefix is given to more upstreams than have it: of two with the same
 * prefix one would hide the models of the other. Those that are stored so already can still be saved.
 */
export function requireOwnPrefixes(given: Prefixed, stored: Prefixed, name: string): void {
  const places = (configs: Prefixed, prefix: string) =>
    Object.keys(configs).filter((index) => configs[index]?.prefix_id === prefix);
  for (const { prefix_id: prefix } of Object.values(given)) {
    const [first, ...others] = prefix ? places(given, prefix) : [];
    if (prefix && others.length > Math.max(0, places(stored, prefix).length - 1)) {
      const problem = `${name} ${first} has its prefix_id "${prefix}"; choose another one`;
      requireNoProblem(problem, `${name} ${others.at(-1)}`);
    }
  }
}

/** An upstream's own status must not reach the admin's browser as this platform's: a 401 would sign it out. */
export async function tryOut<T>(asking: Promise<T>, name: string): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ProviderError) {
      throw new AppError("upstream", toRefusal(name, error), { cause: error });
    }
    throw error;
  }
}

/** The refusal of an upstream in its own words. */
export function toRefusal(name: string, error: ProviderError): string {
  const said = providerWords(error.body)?.trim().slice(0, longestQuote);
  return said
    ? `${name} refused with status ${error.status}: ${said}`
    : `${name} refused with status ${error.status}.`;
}

const longestQuote = 500;

/** Milliseconds an update waits for the lists of models, so that the admin sees what was just connected. */
const patience = 2000;

/** Waits for lists of models, but no longer than an admin likes to. */
export function waitForLists(lists: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, patience);
    Promise.resolve(lists)
      .then(() => resolve(), reject)
      .finally(() => clearTimeout(timer));
  });
}
