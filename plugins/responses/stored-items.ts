import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Logger } from "#kernel/log.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { OutputItem } from "./response.ts";
import { createRowWriter } from "./row-writer.ts";
import type { ResponseDatabase, ResponseItemTable } from "./tables.ts";

/** Output items that their caller may name by id in later requests, to any replica. */
export interface StoredItems {
  /** Resolves when the items can be named, or after a second; never rejects. */
  store(userId: string, items: readonly OutputItem[]): Promise<void>;
  /** Those of `ids` that are the caller's and still there. */
  find(caller: Principal, ids: readonly string[]): Promise<ReadonlyMap<string, OutputItem>>;
  /** Deletes items that are too old, and the oldest items of accounts that have too many. */
  sweep(): Promise<void>;
}

export interface StoredItemsOptions {
  readonly db: ResponseDatabase;
  readonly access: Access;
  readonly log: Logger;
}

/** Seconds for which an item is stored: a loop of tools is over by then. */
const maxAge = 3600;

/** Characters of all items of one account; the oldest go first. */
const maxPerAccount = 16 * 1024 * 1024;

/** Longer items are not stored: one answer must not push out all others. */
const maxItem = 1024 * 1024;

type Row = ResponseItemTable;

/** Stores items in the database. */
export function createStoredItems({ db, access, log }: StoredItemsOptions): StoredItems {
  const writer = createRowWriter<Row>({
    async insert(rows) {
      await sql`insert into response_item (id, user_id, item, size, created_at)
        select * from jsonb_to_recordset(cast(${JSON.stringify(rows)} as jsonb))
          as made (id text, user_id text, item text, size int, created_at bigint)
        on conflict do nothing`.execute(db);
    },
    failed: (error) => log.warn({ err: error }, "items of answers could not be stored"),
  });

  return {
    store(userId, items) {
      const rows = items.map((item) => toRow(userId, item));
      return writer.add(rows.filter(({ size }) => size <= maxItem));
    },

    async find(caller, ids) {
      const rows = await db
        .selectFrom("response_item")
        .select(["id", "user_id", "item"])
        .where("id", "=", anyOf(ids))
        .where("created_at", ">", seconds() - maxAge)
        .execute();
      const byId = new Map(rows.map((row) => [row.id, row]));
      const loader = access.loader({
        type: "response_item",
        find: async (id) => byId.get(id),
        ownerOf: (row) => row.user_id,
        adminPasses: false,
      });
      const found = new Map<string, OutputItem>();
      for (const { id } of rows) {
        const row = await loader.find(caller, id, "read");
        if (row !== undefined) {
          found.set(id, JSON.parse(row.item) as OutputItem);
        }
      }
      return found;
    },

    async sweep() {
      await db
        .deleteFrom("response_item")
        .where("created_at", "<=", seconds() - maxAge)
        .execute();
      await sql`delete from response_item where id in (
        select id from (
          select id, sum(size) over (partition by user_id order by created_at desc, id) as total
          from response_item
          where user_id in (select user_id from response_item group by user_id having sum(size) > ${maxPerAccount})
        ) as counted where total > ${maxPerAccount})`.execute(db);
    },
  };
}

function toRow(userId: string, item: OutputItem): Row {
  const text = JSON.stringify(item);
  return { id: item.id, user_id: userId, item: text, size: text.length, created_at: seconds() };
}
