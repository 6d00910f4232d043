import { sql } from "kysely";
import { toJson } from "#storage/values.ts";
import type { WireMessage } from "../tree/message-fields.ts";
import { type ChatKey, toBatches } from "../tree/message-store.ts";
import type { ChatDatabase } from "../tables.ts";
import { fileIdsOf, fileIdsOfBlock, linkedFileIds } from "./chat-files.ts";

/**
 * Whether an entry or a block may stay: it names no file, or one of `own`. A foreign id must not travel: whoever gets
 * the copy may own the file, and sharing the copy would open it.
 */
type IsOwn = (fileId: string) => boolean;

/** A list of files without entries of foreign ones; the very same list when there is none. */
export function withoutForeignEntries<L extends readonly unknown[]>(list: L, isOwn: IsOwn): L | unknown[] {
  return filtered(list, (entry) => fileIdsOf(entry).every(isOwn));
}

/** A message without foreign files: neither in `files` nor as pictures. The very same message when it shows none. */
export function withoutForeignFiles(message: WireMessage, isOwn: IsOwn): WireMessage {
  const { files, content } = message;
  const keptFiles = Array.isArray(files) ? withoutForeignEntries(files, isOwn) : files;
  const keptContent = Array.isArray(content)
    ? filtered(content as unknown[], (block) => fileIdsOfBlock(block).every(isOwn))
    : content;
  return keptFiles === files && keptContent === content
    ? message
    : {
        ...message,
        ...(keptFiles === files ? {} : { files: keptFiles }),
        ...(keptContent === content ? {} : { content: keptContent }),
      };
}

/** Takes foreign files out of a copy that lies in the database; resolves to the chat's own list of files as it is kept. */
export async function stripForeignFiles(
  tx: ChatDatabase,
  chat: ChatKey & { readonly chat: Readonly<Record<string, unknown>> },
): Promise<Record<string, unknown>> {
  const own = new Set(await linkedFileIds(tx, chat.id));
  await stripMessages(tx, chat, own);
  const { files } = chat.chat;
  if (!Array.isArray(files)) {
    return chat.chat;
  }
  // Links know their place in the list: an entry that goes leaves a gap.
  const kept = files.map((entry: unknown) =>
    fileIdsOf(entry).every((file) => own.has(file)) ? entry : null,
  );
  const head = { ...chat.chat, files: kept };
  await tx
    .updateTable("chat")
    .set({ chat: toJson(head) })
    .where("id", "=", chat.id)
    .execute();
  return head;
}

async function stripMessages(tx: ChatDatabase, chat: ChatKey, own: ReadonlySet<string>): Promise<void> {
  const { rows } = await sql<{ id: string; files: unknown; content: unknown }>`
    select id, files, content from chat_message as m where m.chat_id = ${chat.id}
      and (m.files is not null or (jsonb_typeof(m.content) = 'array' and m.content::text like '%image_url%'))`.execute(
    tx,
  );
  const changed = rows.flatMap(({ id, files, content }) => {
    const message = { files, content };
    const kept = withoutForeignFiles(message, (file) => own.has(file));
    return kept === message ? [] : [{ id, ...kept }];
  });
  for (const batch of toBatches(changed)) {
    await sql`update chat_message as m set files = nullif(p.files, 'null'::jsonb), content = nullif(p.content, 'null'::jsonb)
      from jsonb_to_recordset(cast(${batch} as jsonb)) as p (id text, files jsonb, content jsonb)
      where m.chat_id = ${chat.id} and m.id = p.id`.execute(tx);
  }
}

function filtered<T, L extends readonly T[]>(list: L, isKept: (one: T) => boolean): L | T[] {
  return list.every(isKept) ? list : list.filter(isKept);
}
