import { session } from "#plugins/web/kit/stores/session.svelte.ts";

/** A request that the server has not answered: sent again with its key it has one effect, however often it arrived. */
export interface OutboxEntry {
  readonly key: string;
  /** The chat that it belongs to; for one that the server is to make, a name that the page gave it. */
  readonly chat: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly at: number;
  /** It may have arrived: from now on it is sent as it is, or its key would stand for something else. */
  readonly isTried?: boolean;
}

/** Messages wait for the account that wrote them, which alone sends them; in a view nothing waits. */
const toKey = (): string | undefined =>
  session.current && !session.isView ? `outbox:${session.current.id}` : undefined;
/** The server knows keys for 24 hours: a later repetition would be a second effect. */
const longestMs = 20 * 3_600_000;

/** Requests that wait for the server, kept over a reload of the page. */
export const outbox = {
  all: (): readonly OutboxEntry[] => read(),
  of: (chat: string): readonly OutboxEntry[] => read().filter((entry) => entry.chat === chat),
  put(entry: OutboxEntry): void {
    write([...read().filter(({ key }) => key !== entry.key), entry]);
  },
  remove(key: string): void {
    write(read().filter((entry) => entry.key !== key));
  },
};

function read(): OutboxEntry[] {
  const key = toKey();
  try {
    const entries = JSON.parse((key && localStorage.getItem(key)) ?? "[]") as OutboxEntry[];
    return entries.filter(({ at }) => Date.now() - at < longestMs);
  } catch {
    return [];
  }
}

function write(entries: readonly OutboxEntry[]): void {
  const key = toKey();
  try {
    if (key !== undefined) {
      localStorage.setItem(key, JSON.stringify(entries));
    }
  } catch {
    // A full storage keeps what it has; the page itself still sends.
  }
}
