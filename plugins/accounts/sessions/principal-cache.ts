import type { Principal } from "#kernel/access/principal.ts";
import type { AccountChange } from "../account-changes.ts";

/** A caller that was let in, and until when that needs no second look. */
export interface CachedPrincipal {
  readonly principal: Principal;
  /** Epoch milliseconds. */
  readonly validUntil: number;
  /** Epoch milliseconds of the last note that the account was seen. */
  seenAt: number;
}

/**
 * The callers of the most recently used credentials. An entry goes at once when its account or session changes;
 * a caller that was being read meanwhile is not kept, because what was read may be from before the change.
 */
export class PrincipalCache {
  readonly #entries = new Map<string, CachedPrincipal>();
  readonly #keysOfUser = new Map<string, Set<string>>();
  readonly #limit: number;
  #version = 0;
  /** The one at the end: most requests come from whoever came last. */
  #latest: string | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the changes so far: take it before reading what will be put. */
  get version(): number {
    return this.#version;
  }

  get(key: string): CachedPrincipal | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && key !== this.#latest) {
      // Maps keep insertion order, so the first key is the least recently used one.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      this.#latest = key;
    }
    return entry;
  }

  /** Keeps `entry` unless something changed since `version`. */
  put(key: string, entry: CachedPrincipal, version: number): void {
    if (version !== this.#version) {
      return;
    }
    this.#remove(key);
    this.#entries.set(key, entry);
    this.#latest = key;
    for (const userId of accountsOf(entry)) {
      const keys = this.#keysOfUser.get(userId) ?? new Set();
      this.#keysOfUser.set(userId, keys.add(key));
    }
    const oldest = this.#entries.size > this.#limit ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) {
      this.#remove(oldest);
    }
  }

  /** Forgets what `change` may concern. */
  forget(change: AccountChange): void {
    this.#version++;
    if ("all" in change) {
      this.#entries.clear();
      this.#keysOfUser.clear();
      return;
    }
    for (const key of this.#affected(change)) {
      this.#remove(key);
    }
  }

  #affected(change: { userId: string } | { jti: string }): string[] {
    if ("userId" in change) {
      return [...(this.#keysOfUser.get(change.userId) ?? [])];
    }
    return [...this.#entries]
      .filter(([, entry]) => entry.principal.session?.id === change.jti)
      .map(([key]) => key);
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      return;
    }
    this.#entries.delete(key);
    for (const userId of accountsOf(entry)) {
      const keys = this.#keysOfUser.get(userId);
      keys?.delete(key);
      if (keys?.size === 0) {
        this.#keysOfUser.delete(userId);
      }
    }
  }
}

/** The accounts on which a caller depends. */
function accountsOf({ principal: { userId, viewer } }: CachedPrincipal): string[] {
  return viewer === undefined ? [userId] : [userId, viewer.id];
}
