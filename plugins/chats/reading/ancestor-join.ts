import { type RawBuilder, sql } from "kysely";

/**
 * In SQL: joins the parent of the last message of `path` as `m`. It is looked up by its key, one at a time. As a plain join
 * the database may read the whole chat for every step, when it was last counted while it was short: a branch of thousands
 * of messages then takes minutes.
 */
export function joinParent(chatId: string, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`cross join lateral (
    select ${columns} from chat_message as m where m.chat_id = ${chatId} and m.id = path.parent_id limit 1) as m`;
}
