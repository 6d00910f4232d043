import { type RawBuilder, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import { splitMessage, splitNewMessage, timestampOf } from "./message-fields.ts";
import { withText } from "../replies/output-text.ts";
import type { Place, TreePlan } from "./plan-tree.ts";
import type { ChatDatabase } from "../tables.ts";

/** JSON text of one statement at most, roughly: large chats are written in steps that stop nobody. */
const maxBatch = 1024 * 1024;

export interface ChatKey {
  readonly id: string;
  readonly user_id: string;
}

/** Places of some messages that exist. */
export async function findPlaces(db: ChatDatabase, chatId: string, ids: readonly string[]): Promise<Place[]> {
  return await db
    .selectFrom("chat_message")
    .select(["id", "parent_id", "position"])
    .where("chat_id", "=", chatId)
    .where("id", "=", anyOf(ids))
    .execute();
}

/** Those of some messages that a run is writing. */
export async function findRunning(
  db: ChatDatabase,
  chatId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom("chat_message")
    .select("id")
    .where("chat_id", "=", chatId)
    .where("id", "=", anyOf(ids))
    .where("run_id", "is not", null)
    .execute();
  return rows.map(({ id }) => id);
}

/** The children of some messages, in order; null stands for those without a parent. */
export async function findChildren(
  db: ChatDatabase,
  chatId: string,
  parents: readonly (string | null)[],
): Promise<Place[]> {
  const named = parents.filter((id) => id !== null);
  return await db
    .selectFrom("chat_message")
    .select(["id", "parent_id", "position"])
    .where("chat_id", "=", chatId)
    .where((eb) =>
      eb.or([
        eb("parent_id", "=", anyOf(named)),
        ...(named.length < parents.length ? [eb("parent_id", "is", null)] : []),
      ]),
    )
    .orderBy("position")
    .orderBy("id")
    .execute();
}

/** Every link of a chat. */
export async function findLinks(db: ChatDatabase, chatId: string): Promise<Map<string, string | null>> {
  const rows = await db
    .selectFrom("chat_message")
    .select(["id", "parent_id"])
    .where("chat_id", "=", chatId)
    .execute();
  return new Map(rows.map(({ id, parent_id }) => [id, parent_id]));
}

/** Writes what was decided; resolves to true when something differs from what was there. */
export async function writePlan(tx: ChatDatabase, chat: ChatKey, plan: TreePlan): Promise<boolean> {
  await insertMessages(tx, chat, plan.inserts);
  const patched = await patchMessages(tx, chat.id, plan.patches);
  for (const batch of toBatches(plan.positions)) {
    await sql`update chat_message as m set position = p.position
      from jsonb_to_recordset(cast(${batch} as jsonb)) as p (id text, position int)
      where m.chat_id = ${chat.id} and m.id = p.id`.execute(tx);
  }
  return plan.inserts.length + patched + plan.positions.length > 0;
}

/** Inserts new messages in statements of bounded size. */
export async function insertMessages(
  tx: ChatDatabase,
  chat: ChatKey,
  inserts: TreePlan["inserts"],
): Promise<void> {
  const now = seconds();
  const rows = toRows(inserts, ({ sent, parentId, position }) => ({
    id: sent.id,
    parent_id: parentId,
    position,
    created_at: timestampOf(sent.message) ?? now,
    ...splitNewMessage(sent.message),
  }));
  for (const batch of toBatches(rows)) {
    await sql`insert into chat_message (chat_id, user_id, id, parent_id, position, role, content, output, model_id,
        files, sources, embeds, meta, done, status_history, error, usage, context_summary, extra, created_at, updated_at)
      select ${chat.id}, ${chat.user_id}, p.id, p.parent_id, p.position, p."set" ->> 'role', ${sent("content")},
        ${sent("output")}, p."set" ->> 'model_id', ${sent("files")}, ${sent("sources")}, ${sent("embeds")},
        ${sent("meta")}, (p."set" ->> 'done')::boolean, ${sent("status_history")}, ${sent("error")}, ${sent("usage")},
        p."set" ->> 'context_summary', p.extra, p.created_at, ${now}
      from jsonb_to_recordset(cast(${batch} as jsonb))
        as p (id text, parent_id text, position int, created_at bigint, "set" jsonb, extra jsonb)`.execute(
      tx,
    );
  }
}

/** Changes messages key by key, leaves alone what a run is writing, and writes no row that stays the same. */
async function patchMessages(
  tx: ChatDatabase,
  chatId: string,
  patches: TreePlan["patches"],
): Promise<number> {
  let changed = 0;
  const rows = toRows(patches, ({ sent: { id, message }, parentId }) => ({
    id,
    moved: parentId !== undefined,
    parent_id: parentId ?? null,
    ...splitMessage(message),
  }));
  for (const batch of toBatches(rows)) {
    const { numAffectedRows } = await sql`update chat_message as m set
        parent_id = n.parent_id, role = n.role, content = n.content, output = n.output, model_id = n.model_id,
        files = n.files, sources = n.sources, embeds = n.embeds, meta = n.meta, done = n.done,
        status_history = n.status_history, error = n.error, usage = n.usage, context_summary = n.context_summary,
        extra = n.extra, updated_at = ${seconds()}
      from (
        select o.id, case when p.moved then p.parent_id else o.parent_id end as parent_id,
          coalesce(p."set" ->> 'role', o.role) as role, ${held("content")}, ${heldOutput},
          case when p."set" ? 'model_id' then p."set" ->> 'model_id' else o.model_id end as model_id,
          ${patched("files")}, ${patched("sources")}, ${patched("embeds")}, ${patched("meta")},
          case when p."set" ? 'done' and o.run_id is null then (p."set" ->> 'done')::boolean else o.done end as done,
          ${patched("status_history")}, ${patched("error")}, ${held("usage")},
          case when p."set" ? 'context_summary' then p."set" ->> 'context_summary' else o.context_summary end
            as context_summary,
          (o.extra - p."drop") || p.extra as extra
        from jsonb_to_recordset(cast(${batch} as jsonb))
          as p (id text, moved boolean, parent_id text, "set" jsonb, extra jsonb, "drop" text[])
        join chat_message as o on o.chat_id = ${chatId} and o.id = p.id
      ) as n
      where m.chat_id = ${chatId} and m.id = n.id and
        (m.parent_id, m.role, m.content, m.output, m.model_id, m.files, m.sources, m.embeds, m.meta, m.done,
          m.status_history, m.error, m.usage, m.context_summary, m.extra)
        is distinct from
        (n.parent_id, n.role, n.content, n.output, n.model_id, n.files, n.sources, n.embeds, n.meta, n.done,
          n.status_history, n.error, n.usage, n.context_summary, n.extra)`.execute(tx);
    changed += Number(numAffectedRows ?? 0);
  }
  return changed;
}

/** A column's value of `p."set"`; a JSON null is an empty column. */
function sent(column: string): RawBuilder<unknown> {
  return sql`nullif(p."set" -> ${sql.lit(column)}, 'null'::jsonb)`;
}

function patched(column: string): RawBuilder<unknown> {
  return sql`case when p."set" ? ${sql.lit(column)} then ${sent(column)} else o.${sql.ref(column)} end
    as ${sql.ref(column)}`;
}

/** The same for columns that a run holds while it writes the message. */
function held(column: string): RawBuilder<unknown> {
  return sql`case when p."set" ? ${sql.lit(column)} and o.run_id is null then ${sent(column)}
    else o.${sql.ref(column)} end as ${sql.ref(column)}`;
}

/** The output follows a content that was sent without one and says something else than before. */
const heldOutput: RawBuilder<unknown> = sql`case when o.run_id is not null then o.output
  when p."set" ? 'output' then ${sent("output")}
  when p."set" ? 'content' and o.content is distinct from ${sent("content")}
    then ${withText({ output: sql`o.output`, content: sent("content") })}
  else o.output end as output`;

function* toRows<T, R>(list: Iterable<T>, toRow: (one: T) => R): Generator<R> {
  for (const one of list) {
    yield toRow(one);
  }
}

/** JSON arrays of at most about `maxBatch` characters; one row alone may be larger. */
export function* toBatches(rows: Iterable<unknown>): Generator<string> {
  let texts: string[] = [];
  let size = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (size > 0 && size + text.length > maxBatch) {
      yield `[${texts.join(",")}]`;
      texts = [];
      size = 0;
    }
    texts.push(text);
    size += text.length;
  }
  if (texts.length > 0) {
    yield `[${texts.join(",")}]`;
  }
}
