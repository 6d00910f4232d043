import { type RawBuilder, sql, type SqlBool } from "kysely";
import { filtered, isActive, listTitles, type Page, type TitleRow } from "./lists.ts";
import { parseSearch } from "./search-query.ts";
import type { ChatDatabase } from "./tables.ts";

export type FoundRow = TitleRow & { readonly snippet: string | null };

const snippetLength = 200;

/** Chats of an account whose title or one of whose messages has all the words; the last word may be unfinished. */
export async function searchChats(
  db: ChatDatabase,
  userId: string,
  { text, page }: { text: string; page: Page },
): Promise<FoundRow[]> {
  const { words, filter } = parseSearch(text);
  if (words === "") {
    const rows = await listTitles(db, userId, { filter, page });
    return rows.map(({ share_id: _share, ...row }) => ({ ...row, snippet: null }));
  }
  const query = await toQuery(db, userId, words);
  if (query === undefined) {
    return [];
  }
  const rows = await filtered(db, userId, filter)
    .where(sql<SqlBool>`chat.id in (
      select chat_id from chat_message where search @@ ${query}
      union select id from chat where search @@ ${query})`)
    .select(["chat.id", "chat.title", "chat.updated_at", "chat.created_at", "chat.last_read_at"])
    .select(isActive.as("active"))
    .orderBy("chat.updated_at", "desc")
    .orderBy("chat.id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const snippets = await readSnippets(
    db,
    rows.map(({ id }) => id),
    { query, words },
  );
  return rows.map((row) => ({ ...row, snippet: snippets.get(row.id) ?? null }));
}

/** The words as a search over one account's rows; undefined when there is no word among them. */
async function toQuery(
  db: ChatDatabase,
  userId: string,
  words: string,
): Promise<RawBuilder<unknown> | undefined> {
  const { rows } = await sql<{ query: string }>`
    select websearch_to_tsquery('simple'::regconfig, chat_words(${words}))::text as query`.execute(db);
  const query = rows[0]?.query ?? "";
  if (query === "") {
    return undefined;
  }
  const owner = `'user:${userId.replaceAll(/['\\]/g, "$&$&")}'`;
  return sql`cast(${`${owner} & ( ${query}:* )`} as tsquery)`;
}

/** A piece of the newest message that fits, around the first of the words. */
async function readSnippets(
  db: ChatDatabase,
  ids: readonly string[],
  { query, words }: { query: RawBuilder<unknown>; words: string },
): Promise<Map<string, string>> {
  const first = words.toLowerCase().match(/[\p{L}\p{N}]+/u)?.[0] ?? "";
  const { rows } = await sql<{ chat_id: string; snippet: string }>`
    select hit.chat_id, substr(hit.text, greatest(1, strpos(lower(hit.text), ${first}) - 60), ${snippetLength}) as snippet
    from unnest(${[...ids]}::text[]) as wanted (id)
    cross join lateral (
      select m.chat_id, chat_message_text(m.content) as text from chat_message as m
      where m.chat_id = wanted.id and m.search @@ ${query}
      order by m.created_at desc limit 1) as hit`.execute(db);
  return new Map(rows.map((row) => [row.chat_id, row.snippet.replaceAll(/\s+/g, " ").trim()]));
}
