import { type RawBuilder, sql, type SqlBool } from "kysely";
import { type Filter, filtered, isActive, listTitles, type Page, type TitleRow } from "./lists.ts";
import { parseSearch } from "./search-query.ts";
import type { ChatDatabase } from "../tables.ts";

export interface SearchWish {
  readonly text: string;
  readonly page: Page;
  /** Narrows further down what the text says. */
  readonly filter?: Filter;
  /** Ids of the folders that `folder:` means. */
  foldersNamed(text: string): Promise<string[]>;
}

const snippetLength = 200;

/** Chats of an account whose title or one of whose messages has all the words; the last word may be unfinished. */
export async function searchChats(
  db: ChatDatabase,
  userId: string,
  { text, page, filter: more, foldersNamed }: SearchWish,
): Promise<TitleRow[]> {
  const { words, folder, ...parsed } = parseSearch(text);
  const named = folder === undefined ? {} : { folder: await foldersNamed(folder) };
  const filter = { ...parsed.filter, ...named, ...more };
  if (words === "") {
    const rows = await listTitles(db, userId, { filter, page });
    return rows.map(({ share_id: _share, ...row }) => row);
  }
  const query = await toQuery(db, userId, words);
  if (query === undefined) {
    return [];
  }
  const isRare = await hasFewHits(db, userId, query);
  const hits = filtered(db, userId, filter)
    .leftJoinLateral(isRare ? indexed(query) : probed(query), (join) => join.onTrue())
    .where((eb) =>
      eb.or([eb("hit.message_id", "is not", null), sql<SqlBool>`(chat.search @@ ${query}) is true`]),
    );
  const narrowed = isRare ? hits.where(sql<SqlBool>`chat.id in (${someChats(userId, query)})`) : hits;
  const rows = await narrowed
    .select([
      "chat.id",
      "chat.title",
      "chat.updated_at",
      "chat.created_at",
      "chat.last_read_at",
      "chat.archived",
      "hit.message_id",
    ])
    .select(isActive.as("active"))
    .orderBy("chat.updated_at", "desc")
    .orderBy("chat.id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const snippets = await readSnippets(db, rows, words);
  return rows.map(({ message_id: _hit, ...row }) => ({ ...row, snippet: snippets.get(row.id) ?? null }));
}

type Query = RawBuilder<unknown>;

/** From here on a word is common, and reading chats from the newest on finds a page sooner than reading every hit. */
const fewHits = 2000;

async function hasFewHits(db: ChatDatabase, userId: string, query: Query): Promise<boolean> {
  const { rows } = await sql<{ hits: number }>`
    select (select count(*) from (select 1 from chat_message where search @@ ${query} limit ${fewHits}) as said)
      + (select count(*) from (select 1 from chat where user_id = ${userId} and search @@ ${query} limit ${fewHits}) as called) as hits`.execute(
    db,
  );
  return Number(rows[0]?.hits) < fewHits;
}

/** Every chat with a hit. */
function someChats(userId: string, query: Query): RawBuilder<unknown> {
  return sql`select chat_id from chat_message where search @@ ${query} union select id from chat where user_id = ${userId} and search @@ ${query}`;
}

/** A message of the chat that fits, among the few there are. */
function indexed(query: Query) {
  return sql<{ message_id: string | null }>`(select found.id as message_id from (
      select distinct on (chat_id) chat_id, id from chat_message where search @@ ${query}
      order by chat_id, created_at desc) as found
    where found.chat_id = chat.id)`.as<"hit">(sql.ref("hit"));
}

/** The same read from the chat itself: "is true" keeps the index of words out, which would be read for every chat. */
function probed(query: Query) {
  return sql<{ message_id: string | null }>`(select (select m.id from chat_message as m
      where m.chat_id = chat.id and (m.search @@ ${query}) is true limit 1) as message_id offset 0)`.as<"hit">(
    sql.ref("hit"),
  );
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
  // A group, such as a phrase that must not occur, has no last word that could be unfinished.
  const isWord = query.endsWith("'");
  return sql`cast(${`${owner} & ( ${query}${isWord ? ":*" : ""} )`} as tsquery)`;
}

/** A piece of the messages that fit, around the first of the words. */
async function readSnippets(
  db: ChatDatabase,
  hits: readonly { readonly id: string; readonly message_id: string | null }[],
  words: string,
): Promise<Map<string, string>> {
  const first = words.toLowerCase().match(/[\p{L}\p{N}]+/u)?.[0] ?? "";
  const { rows } = await sql<{ chat_id: string; snippet: string }>`
    select said.chat_id, substr(said.text, greatest(1, strpos(lower(said.text), ${first}) - 60), ${snippetLength}) as snippet
    from (select m.chat_id, chat_message_text(m.content) as text
      from jsonb_to_recordset(cast(${JSON.stringify(hits)} as jsonb)) as hit (id text, message_id text)
      join chat_message as m on m.chat_id = hit.id and m.id = hit.message_id) as said`.execute(db);
  return new Map(rows.map((row) => [row.chat_id, row.snippet.replaceAll(/\s+/g, " ").trim()]));
}
