import { AppError } from "#kernel/errors.ts";
import { unmask } from "#kernel/upstream/endpoint-form.ts";
import { maskKey } from "#kernel/upstream/mask.ts";
import { findProblem, type StoredTerminal } from "./schema.ts";

/** An entry as administrators see it. Promise S107. */
export function showTerminal(stored: StoredTerminal): StoredTerminal {
  return { ...stored, key: maskKey(stored.key) };
}

/** The entry that was meant, with the stored key where its mask came back; a key never moves to another address. */
export function unmaskTerminal(
  given: StoredTerminal,
  stored: readonly StoredTerminal[],
  index?: number,
): StoredTerminal {
  const urls = stored.map(({ url }) => url);
  const key = unmask(given.key, { url: given.url, index }, { urls, read: (at) => stored[at]?.key });
  return { ...given, key };
}

/** Throws `invalid` for entries that cannot stand side by side, or be used although they are switched on. */
export function requireSound(entries: readonly StoredTerminal[]): void {
  const ids = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const problem = findProblem(entry);
    if (ids.has(entry.id)) {
      throw new AppError(
        "invalid",
        `TERMINAL_SERVER_CONNECTIONS.${index}.id: "${entry.id}" is taken by another one.`,
      );
    }
    ids.add(entry.id);
    if (problem !== undefined && entry.enabled) {
      throw new AppError("invalid", `TERMINAL_SERVER_CONNECTIONS.${index}: ${problem}.`);
    }
  }
}
