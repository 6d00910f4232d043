import { type RawBuilder, sql } from "kysely";
import { toContent } from "#kernel/completion/reply-text.ts";
import type { GrownItem } from "./service-types.ts";
import type { ChatDatabase } from "../tables.ts";

// A reply that is being written is stored whole once; after that each checkpoint adds a row with what is new. Whoever
// reads the message puts both together; the last state, or whoever finds the run gone, stores it whole again.

type Bag = Record<string, unknown>;

/** In SQL: what the message `m` has grown by, oldest first, as JSON text; null for messages that no run writes. */
export const appendedText: RawBuilder<unknown> = sql`case when m.run_id is not null then (
  select json_agg(t.grown order by t.seq)::text from chat_message_tail as t
  where t.chat_id = m.chat_id and t.message_id = m.id) end`;

/** In SQL: about how many bytes, or characters, that is. */
export const appendedSize: RawBuilder<unknown> = sql`case when m.run_id is not null then coalesce((
  select sum(octet_length(t.grown::text)) from chat_message_tail as t
  where t.chat_id = m.chat_id and t.message_id = m.id), 0) else 0 end`;

/** A reply as it stands: its stored output, and the text that its items say, with what it has grown by since. */
export function withAppended(output: string | null, tails: string): { content: string; output: string } {
  const stored: unknown = output === null ? [] : JSON.parse(output);
  const items = Array.isArray(stored) ? (stored as Bag[]) : [];
  for (const grown of (JSON.parse(tails) as GrownItem[][]).flat()) {
    grow(items, grown);
  }
  return {
    content: JSON.stringify(toContent(items as (Bag & { type: string })[])),
    output: JSON.stringify(items),
  };
}

function grow(items: Bag[], { at, item, text, details }: GrownItem): void {
  if (item !== undefined) {
    items[at] = item as Bag;
  }
  const grown = items[at];
  if (grown === undefined) {
    return;
  }
  if (details !== undefined) {
    grown["reasoning_details"] = [
      ...((grown["reasoning_details"] as unknown[] | undefined) ?? []),
      ...details,
    ];
  }
  if (text !== undefined) {
    const [holder, key] = placeOf(grown);
    holder[key] = `${String(holder[key] ?? "")}${text}`;
  }
}

/** Where the text of an item grows. */
function placeOf(item: Bag): [holder: Bag, key: string] {
  if (item["type"] === "function_call") {
    return [item, "arguments"];
  }
  if (typeof item["code"] === "string") {
    return [item, "code"];
  }
  const last = (item["content"] as Bag[]).at(-1) as Bag;
  return [last, last["type"] === "refusal" ? "refusal" : "text"];
}

/** Stores replies whole again that nobody writes any more; `places` is `[{chat_id, id, run_id}]` as JSON text. */
export async function foldAppendLog(tx: ChatDatabase, places: string): Promise<void> {
  const { rows: held } = await sql<{ chat_id: string; id: string; output: string | null }>`
    select m.chat_id, m.id, m.output::text as output from chat_message as m
    join jsonb_to_recordset(cast(${places} as jsonb)) as p (chat_id text, id text, run_id text)
      on m.chat_id = p.chat_id and m.id = p.id and m.run_id = p.run_id
    where exists (select 1 from chat_message_tail as t where t.chat_id = m.chat_id and t.message_id = m.id)
    order by m.chat_id, m.id for update of m`.execute(tx);
  for (const { chat_id, id, output } of held) {
    // Read when the message is held: a checkpoint that was on its way is in.
    const { rows } = await sql<{ tails: string | null }>`
      with gone as (
        delete from chat_message_tail where chat_id = ${chat_id} and message_id = ${id} returning seq, grown)
      select json_agg(grown order by seq)::text as tails from gone`.execute(tx);
    const tails = rows[0]?.tails ?? null;
    if (tails !== null) {
      const whole = withAppended(output, tails);
      await sql`update chat_message set content = cast(cast(${whole.content} as text) as jsonb),
          output = cast(cast(${whole.output} as text) as jsonb)
        where chat_id = ${chat_id} and id = ${id}`.execute(tx);
    }
  }
}
