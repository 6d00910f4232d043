import type { Connection } from "./connection.ts";
import { isSessionLost } from "./server-error.ts";

export interface ConnectionsOptions {
  /** Milliseconds without use after which a connection is closed. */
  readonly idleMs: number;
  /** Milliseconds for which a server that could not be reached is not tried again. */
  readonly restMs: number;
}

interface Entry {
  readonly opening: Promise<Connection>;
  uses: number;
  isRetired: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Sessions with servers by key, opened when they are first used. */
export interface Connections {
  /** Runs `use` over the connection of `key`; once more over a new one when the server has lost the session. */
  use<R>(
    key: string,
    open: () => Promise<Connection>,
    use: (connection: Connection) => Promise<R>,
  ): Promise<R>;
  /** Opens no more over those whose key begins so, and closes each as soon as nobody uses it. */
  closeAll(prefix: string): Promise<void>;
}

export function createConnections({ idleMs, restMs }: ConnectionsOptions): Connections {
  const entries = new Map<string, Entry>();
  const failures = createFailures(restMs);

  const drop = async (key: string, entry: Entry) => {
    if (entries.get(key) === entry) {
      entries.delete(key);
    }
    clearTimeout(entry.timer);
    await (await entry.opening.catch(() => undefined))?.close();
  };
  const find = async (key: string, open: () => Promise<Connection>): Promise<Entry> => {
    const known = entries.get(key);
    if (known !== undefined && (await known.opening.catch(() => undefined))?.isOpen !== false) {
      return known;
    }
    if (known !== undefined) {
      void drop(key, known);
    }
    failures.throwIfFresh(key);
    const found = entries.get(key);
    if (found !== undefined) {
      return found;
    }
    const entry: Entry = { opening: open(), uses: 0, isRetired: false, timer: undefined };
    entries.set(key, entry);
    entry.opening.catch((error: unknown) => {
      entries.delete(key);
      failures.add(key, error);
    });
    return entry;
  };
  const once = async <R>(
    key: string,
    open: () => Promise<Connection>,
    use: (connection: Connection) => Promise<R>,
  ): Promise<R> => {
    const entry = await find(key, open);
    entry.uses += 1;
    clearTimeout(entry.timer);
    try {
      return await use(await entry.opening);
    } catch (error) {
      if (isSessionLost(error)) {
        void drop(key, entry);
      }
      throw error;
    } finally {
      entry.uses -= 1;
      if (entry.uses === 0) {
        entry.timer = setTimeout(() => void drop(key, entry), entry.isRetired ? 0 : idleMs).unref();
      }
    }
  };
  return {
    async use(key, open, use) {
      try {
        return await once(key, open, use);
      } catch (error) {
        if (!isSessionLost(error)) {
          throw error;
        }
        return await once(key, open, use);
      }
    },
    async closeAll(prefix) {
      failures.clear();
      const closing = [...entries].filter(([key]) => key.startsWith(prefix));
      for (const [key, entry] of closing) {
        entries.delete(key);
        entry.isRetired = true;
      }
      const unused = closing.filter(([, entry]) => entry.uses === 0);
      await Promise.all(unused.map(([key, entry]) => drop(key, entry)));
    },
  };
}

/** Servers that could not be reached lately: nobody waits for them again at once. */
function createFailures(restMs: number) {
  const known = new Map<string, { readonly error: unknown; readonly until: number }>();
  return {
    add(key: string, error: unknown) {
      if (!isRetriedAtOnce(error)) {
        known.set(key, { error, until: performance.now() + restMs });
      }
    },
    throwIfFresh(key: string) {
      const failure = known.get(key);
      if (failure !== undefined && failure.until > performance.now()) {
        throw failure.error;
      }
      known.delete(key);
    },
    clear: () => known.clear(),
  };
}

/** A person who signs in, and a caller who left, must not wait for the next try. */
function isRetriedAtOnce(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: string };
  return code === "unauthenticated" || code === "forbidden" || name === "AbortError";
}
