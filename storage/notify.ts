import { sql, type Kysely } from "kysely";
import { StorageError } from "./errors.ts";

/** Postgres refuses 8,000 bytes; the difference leaves room for its bookkeeping. */
export const MAX_NOTICE_BYTES = 7_900;

/** SQL of an announcement; installations that share a database by schema do not hear each other. */
export const NOTIFY_SQL = `select pg_notify(case current_schema() when 'public' then '' else current_schema() || '.' end || $1::text, $2::text)`;

/** Announces JSON when the executor's transaction commits; nothing is announced when it rolls back. */
export async function notifyWith(
  // oxlint-disable-next-line typescript/no-explicit-any -- any executor will do, whatever tables it knows
  executor: Kysely<any>,
  channel: string,
  payload: unknown,
): Promise<void> {
  const prefix = sql`case current_schema() when 'public' then '' else current_schema() || '.' end`;
  const text = encodeNotice(channel, payload);
  await sql`select pg_notify(${prefix} || cast(${channel} as text), cast(${text} as text))`.execute(executor);
}

/** The JSON text of an announcement. Throws when channel or size would be refused by the database. */
export function encodeNotice(channel: string, payload: unknown): string {
  if (!CHANNEL.test(channel)) {
    throw new StorageError(`"${channel}" is no channel name: letters, digits and _ . : - up to 50`);
  }
  const text = JSON.stringify(payload ?? null);
  const size = Buffer.byteLength(text);
  if (size > MAX_NOTICE_BYTES) {
    throw new StorageError(
      `An announcement on "${channel}" has ${size} bytes; the database takes ${MAX_NOTICE_BYTES}. Send a pointer to the data instead`,
    );
  }
  return text;
}

/** Who listens to what in this process; one database subscription per channel. */
export interface Listeners {
  add(channel: string, handler: (payload: unknown) => void): Promise<() => Promise<void>>;
  deliver(channel: string, text: string): void;
}

/** Subscribes at the first handler of a channel and unsubscribes after the last. */
export function createListeners(options: {
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  log(message: string): void;
}): Listeners {
  const handlers = new Map<string, Set<(payload: unknown) => void>>();
  return {
    async add(channel, handler) {
      encodeNotice(channel, null);
      // Wrapped, so that the same function may listen twice.
      const entry = (payload: unknown) => handler(payload);
      const known = handlers.get(channel);
      const set = known ?? new Set();
      set.add(entry);
      handlers.set(channel, set);
      try {
        // Also for a known channel: the first subscription may still be under way.
        await options.subscribe(channel);
      } catch (error) {
        set.delete(entry);
        throw error;
      }
      return async () => {
        if (set.delete(entry) && set.size === 0) {
          handlers.delete(channel);
          await options.unsubscribe(channel);
        }
      };
    },
    deliver(channel, text) {
      for (const handler of handlers.get(channel) ?? []) {
        try {
          handler(JSON.parse(text));
        } catch (error) {
          options.log(
            `A listener of "${channel}" failed: ${error instanceof Error ? error.message : String(error)}`,
          );
        }
      }
    },
  };
}

const CHANNEL = /^[A-Za-z0-9_.:-]{1,50}$/;
