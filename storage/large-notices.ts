import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { Database } from "./database.ts";
import { MAX_NOTICE_BYTES } from "./notify.ts";

/** Announcements of any size between the processes of one database, in the order in which each of them sends. */
export interface LargeNotices {
  /** Resolves when the others will get it. A text that an announcement cannot hold is kept in a table for a minute. */
  send(text: string): Promise<void>;
  /** Tells of everything that is sent, this process's own included; `onGap` runs when something may be missing. */
  listen(handler: (text: string) => void, onGap: () => void): Promise<void>;
  close(): void;
}

/** Rows live for a minute; nothing is lost with them that a crash of the database would not end anyway. */
export const noticeMigrations: Record<string, Migration> = {
  "0001_bodies": {
    async up(db) {
      await sql`create unlogged table notice_body (id bigint generated always as identity primary key,
        body text not null, created_at timestamptz not null default now())`.execute(db);
    },
  },
};

const keptMs = 60_000;
const sendSql = `with kept as (insert into notice_body (body) values ($2) returning id)
  select pg_notify(case current_schema() when 'public' then '' else current_schema() || '.' end || $1::text,
    json_build_object('kept', id)::text) from kept`;
const sweepSql = `delete from notice_body where created_at < now() - interval '${keptMs} milliseconds'`;

/** Opens one channel. */
export function openLargeNotices(
  database: Database,
  { channel, log }: { channel: string; log(message: string): void },
): LargeNotices {
  let sweeping: NodeJS.Timeout | undefined;
  const sweep = () => {
    sweeping = undefined;
    database.query(sweepSql).catch((error: Error) => log(`Old announcements stay: ${error.message}`));
  };
  return {
    async send(text) {
      // Few bytes need no exact count, although quotes double in JSON.
      if (text.length * 4 < MAX_NOTICE_BYTES || fits(text)) {
        await database.notify(channel, text);
        return;
      }
      await database.query(sendSql, [channel, text]);
      sweeping ??= setTimeout(sweep, keptMs + 1000).unref();
    },
    async listen(handler, onGap) {
      const read = async (payload: unknown) => {
        const text = typeof payload === "string" ? payload : await readKept(database, payload);
        return text === undefined ? onGap() : handler(text);
      };
      // One after another: an announcement that is still being read must not be overtaken.
      let last: Promise<void> = Promise.resolve();
      let waiting = 0;
      // Rows of a process that died before its sweep.
      sweep();
      database.onListenGap(onGap);
      await database.listen(channel, (payload) => {
        if (waiting === 0 && typeof payload === "string") {
          handler(payload);
          return;
        }
        waiting += 1;
        last = last.then(async () => {
          try {
            await read(payload);
          } catch (error) {
            log(`An announcement on "${channel}" could not be read: ${(error as Error).message}`);
            onGap();
          }
          waiting -= 1;
        });
      });
    },
    close: () => clearTimeout(sweeping),
  };
}

async function readKept(database: Database, payload: unknown): Promise<string | undefined> {
  const id = (payload as { kept?: unknown } | null)?.kept;
  const { rows } = await database.query("select body from notice_body where id = $1", [id]);
  return (rows[0] as { body: string } | undefined)?.body;
}

function fits(text: string): boolean {
  return Buffer.byteLength(JSON.stringify(text)) <= MAX_NOTICE_BYTES;
}
