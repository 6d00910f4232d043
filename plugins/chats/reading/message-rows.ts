import { type RawBuilder, sql } from "kysely";
import { anyOf } from "#storage/values.ts";
import { appendedSize, appendedText, withAppended } from "../replies/append-log.ts";
import type { ChatDatabase } from "../tables.ts";

// A message is read as the text that the database keeps of it (performance.md, P19: values would have to be parsed and
// written again): `, "role": "user", …, "content":` and, behind the only line break, the content.

interface MessageRow {
  readonly id: string;
  readonly version: string | null;
  readonly wire: string;
  readonly appended: string | null;
}

/** The stored part of a message, without its links. */
export class MessageText {
  /** The members of its JSON object in UTF-8, each with a comma before it. */
  readonly members: Buffer;
  /** The part of them that is the value of `content`. */
  readonly content: Buffer | undefined;
  readonly version: string | null;
  /** The content, where it is a string: most of a message, and shared by those who read it. */
  #words: string | undefined;

  constructor(wire: string, version: string | null) {
    this.members = Buffer.from(wire);
    this.version = version;
    const at = this.members.indexOf(lineBreak);
    this.content = at < 0 ? undefined : this.members.subarray(at + 1);
  }

  /** As a value of the caller's own. */
  value(): Record<string, unknown> {
    const { members, content } = this;
    if (content?.[0] !== quote) {
      return parseMembers(String(members));
    }
    const rest = `${members.subarray(0, content.byteOffset - members.byteOffset)}""`;
    this.#words ??= JSON.parse(String(content)) as string;
    return { ...parseMembers(rest), content: this.#words };
  }
}

const lineBreak = 10;
const quote = 34;

/**
 * In SQL: names the state of the row of the message `m`. Every change of a row makes another one of it, in another place
 * when the same transaction made both. What a run writes has other rows besides, and no name.
 */
export const rowVersion: RawBuilder<string | null> =
  sql`case when m.run_id is null then m.xmin::text || m.ctid::text end`;

/** In SQL: about how many bytes the message `m` takes, told without reading what it says. */
export const rowSize: RawBuilder<number> = sql`coalesce(octet_length(m.wire), coalesce(pg_column_size(m.content), 0)
  + coalesce(pg_column_size(m.output), 0) + pg_column_size(m.extra) + ${appendedSize})::int`;

const wireText: RawBuilder<string> = sql`coalesce(m.wire, chat_message_wire(m.role, m.content, m.output, m.model_id,
  m.files, m.sources, m.embeds, m.meta, m.done, m.status_history, m.error, m.usage, m.context_summary, m.extra))`;

/** Reads the texts of some messages of a chat, in no order. */
export async function readRows(
  db: ChatDatabase,
  chatId: string,
  ids: readonly string[],
): Promise<Map<string, MessageText>> {
  const { rows } = await sql<MessageRow>`
    select m.id, ${rowVersion} as version, ${wireText} as wire, ${appendedText} as appended from chat_message as m
    where m.chat_id = ${chatId} and m.id = ${anyOf(ids)}`.execute(db);
  return new Map(rows.map((row) => [row.id, new MessageText(toWire(row), row.version)]));
}

/** The text of a reply that is being written, with what it has grown by. */
function toWire({ wire, appended }: MessageRow): string {
  if (appended === null) {
    return wire;
  }
  const { content: _content, output, ...rest } = parseMembers(wire);
  const grown = withAppended(output === undefined ? null : JSON.stringify(output), appended);
  const others = JSON.stringify(rest).slice(1, -1);
  return `${others === "" ? "" : `, ${others}`}, "output": ${grown.output}, "content":\n${grown.content}`;
}

function parseMembers(members: string): Record<string, unknown> {
  return JSON.parse(`{${members.slice(2)}}`) as Record<string, unknown>;
}
