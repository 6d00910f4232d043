import { type RawBuilder, sql } from "kysely";
import { anyOf } from "#storage/values.ts";
import { messageColumns } from "../tree/message-fields.ts";
import { appendedText, withAppended } from "../replies/append-log.ts";
import type { ChatDatabase } from "../tables.ts";

/** A stored message as it is read: JSON columns as text, so that only who needs their values parses them. */
type MessageRow = Readonly<Record<string, string | boolean | null>> & {
  readonly id: string;
  readonly version: string | null;
  readonly extra: string;
  readonly tails: string | null;
};

/** The stored part of a message, without its links. */
export class MessageText {
  /** As it is sent: JSON in UTF-8. */
  readonly text: Buffer;
  /** The part of it that is the value of `content`. */
  readonly content: Buffer | undefined;
  readonly version: string | null;
  /** The content, where it is a string: it is most of a message, and nobody can change it. */
  #words: string | undefined;

  constructor({ text, content, version }: Pick<MessageText, "text" | "content" | "version">) {
    this.text = text;
    this.content = content;
    this.version = version;
  }

  /** As a value of the caller's own. */
  value(): Record<string, unknown> {
    const { text, content } = this;
    if (content?.[0] !== quote) {
      return JSON.parse(String(text)) as Record<string, unknown>;
    }
    const from = content.byteOffset - text.byteOffset;
    const rest = `${text.subarray(0, from)}""${text.subarray(from + content.length)}`;
    this.#words ??= JSON.parse(String(content)) as string;
    return { ...(JSON.parse(rest) as Record<string, unknown>), content: this.#words };
  }
}

const quote = 34;

const columns = Object.entries(messageColumns).map(([key, { column, kind }]) => ({ key, column, kind }));

/**
 * In SQL: names the state of the row of the message `m`. Every change of a row makes another one of it, in another place
 * when the same transaction made both. What a run writes has other rows besides, and no name.
 */
export const rowVersion: RawBuilder<string | null> =
  sql`case when m.run_id is null then m.xmin::text || m.ctid::text end`;

/** In SQL: about how many bytes the message `m` takes, told without reading what it says. */
export const rowSize: RawBuilder<number> = sql`(coalesce(pg_column_size(m.content), 0)
  + coalesce(pg_column_size(m.output), 0) + coalesce(pg_column_size(m.sources), 0)
  + coalesce(pg_column_size(m.files), 0) + pg_column_size(m.extra))::int`;

const selection: RawBuilder<unknown> = sql.join([
  sql`m.id`,
  sql`${rowVersion} as version`,
  sql`m.extra::text as extra`,
  sql`${appendedText} as tails`,
  ...columns.map(({ column, kind }) =>
    kind === "json" ? sql`m.${sql.ref(column)}::text as ${sql.ref(column)}` : sql`m.${sql.ref(column)}`,
  ),
]);

/** Reads the texts of some messages of a chat, in no order. */
export async function readRows(
  db: ChatDatabase,
  chatId: string,
  ids: readonly string[],
): Promise<Map<string, MessageText>> {
  const { rows } = await sql<MessageRow>`
    select ${selection} from chat_message as m
    where m.chat_id = ${chatId} and m.id = ${anyOf(ids)}`.execute(db);
  return new Map(rows.map((row) => [row.id, toMessageText(row)]));
}

/** Composed as text, so that nothing is parsed to be written. */
function toMessageText(stored: MessageRow): MessageText {
  const row = whole(stored);
  const extra = extraOf(row);
  const parts = extra === "{}" ? [] : [extra.slice(1, -1)];
  let content: { before: string; value: string } | undefined;
  for (const { key, column, kind } of columns) {
    const value = row[column] ?? null;
    if (value !== null) {
      const text = kind === "text" ? JSON.stringify(value) : String(value);
      if (key === "content") {
        content = { before: `{${[...parts, `"${key}": `].join(", ")}`, value: text };
      }
      parts.push(`"${key}": ${text}`);
    }
  }
  const text = Buffer.from(`{${parts.join(", ")}}`);
  const from = content && Buffer.byteLength(content.before);
  return new MessageText({
    text,
    content: content && text.subarray(from, Number(from) + Buffer.byteLength(content.value)),
    version: row.version,
  });
}

/** Keys that a column could have been meant for: almost no `extra` has one, and finding that out costs one look. */
const columnKey = new RegExp(`"(?:${columns.map(({ key }) => key).join("|")})": `);

/**
 * What stands beside the columns. An explicit null does, and what no column takes, until the column gets a value: runs
 * write columns and know nothing of it.
 */
function extraOf(row: MessageRow): string {
  if (!columnKey.test(row.extra)) {
    return row.extra;
  }
  const extra = JSON.parse(row.extra) as Record<string, unknown>;
  const left = Object.entries(extra).filter(
    ([key]) => (row[messageColumns[key]?.column ?? ""] ?? null) === null,
  );
  return JSON.stringify(Object.fromEntries(left));
}

function whole(row: MessageRow): MessageRow {
  return row.tails === null ? row : { ...row, ...withAppended(row["output"] as string | null, row.tails) };
}
