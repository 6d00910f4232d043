import { type RawBuilder, sql } from "kysely";
import { anyOf } from "#storage/values.ts";
import { messageColumns } from "./message-fields.ts";
import { tailsText, withTails } from "./tails.ts";
import type { ChatDatabase } from "./tables.ts";

/** A stored message as it is read: JSON columns as text, so that only who needs their values parses them. */
export type MessageRow = Readonly<Record<string, string | boolean | null>> & {
  readonly id: string;
  readonly parent_id: string | null;
  readonly extra: string;
  readonly tails: string | null;
};

const columns = Object.entries(messageColumns).map(([key, { column, kind }]) => ({ key, column, kind }));

/** What a query selects of `chat_message as m`, for `toMessageText` and `toMessageValue`. */
export const messageSelection: RawBuilder<unknown> = sql.join([
  sql`m.id`,
  sql`m.parent_id`,
  sql`m.extra::text as extra`,
  sql`${tailsText} as tails`,
  ...columns.map(({ column, kind }) =>
    kind === "json" ? sql`m.${sql.ref(column)}::text as ${sql.ref(column)}` : sql`m.${sql.ref(column)}`,
  ),
]);

/** The stored part of a message as JSON text: composed as text, so that nothing is parsed to be written. */
export function toMessageText(stored: MessageRow): string {
  const row = whole(stored);
  // An explicit null stands in `extra`; a value has a column.
  const parts = row.extra === "{}" ? [] : [row.extra.slice(1, -1)];
  for (const { key, column, kind } of columns) {
    const value = row[column] ?? null;
    if (value !== null) {
      parts.push(`"${key}": ${kind === "text" ? JSON.stringify(value) : String(value)}`);
    }
  }
  return `{${parts.join(", ")}}`;
}

/** The same as a value. */
export function toMessageValue(stored: MessageRow): Record<string, unknown> {
  const row = whole(stored);
  const message = JSON.parse(row.extra) as Record<string, unknown>;
  for (const { key, column, kind } of columns) {
    const value = row[column] ?? null;
    if (value !== null) {
      message[key] = kind === "json" ? (JSON.parse(value as string) as unknown) : value;
    }
  }
  return message;
}

function whole(row: MessageRow): MessageRow {
  return row.tails === null ? row : { ...row, ...withTails(row["output"] as string | null, row.tails) };
}

/** Reads some messages of a chat, in no order. */
export async function readRows(
  db: ChatDatabase,
  chatId: string,
  ids: readonly string[],
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${messageSelection} from chat_message as m
    where m.chat_id = ${chatId} and m.id = ${anyOf(ids)}`.execute(db);
  return rows;
}
