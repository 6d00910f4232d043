import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { filesAndAddresses } from "./chat-files.ts";
import type { ChatKey } from "../tree/message-store.ts";
import type { ChatDatabase } from "../tables.ts";

/**
 * Looks again at what some messages show after they changed or went. A file that its message shows no more goes to
 * another one that does, or leaves the chat. What a run writes is left alone, unless it is the run that asks: its files
 * are linked before they are stored.
 */
export async function relinkFiles(
  tx: ChatDatabase,
  chatId: string,
  { messageIds, runId = null }: { messageIds: readonly string[]; runId?: string | null },
): Promise<void> {
  if (messageIds.length === 0) {
    return;
  }
  const links = await tx
    .selectFrom("chat_file")
    .select(["file_id", "message_id"])
    .where("chat_id", "=", chatId)
    .where("message_id", "=", anyOf(messageIds))
    .execute();
  const named = links.flatMap(({ message_id }) => message_id ?? []);
  const rows = named.length === 0 ? [] : await readShown(tx, chatId, named);
  const messages = new Map(rows.map((row) => [row.id, row]));
  const lost = links.filter(({ file_id, message_id }) => {
    const message = messages.get(message_id as string);
    if (message === undefined) {
      return true;
    }
    const isFree = message.run_id === null || message.run_id === runId;
    return isFree && !filesAndAddresses(message).includes(file_id);
  });
  await handOn(
    tx,
    chatId,
    lost.map(({ file_id }) => file_id),
  );
}

/** Gives a copy of a chat the files of the original that it shows, as far as they belong to the copy's owner. */
export async function copyFiles(tx: ChatDatabase, from: string, to: ChatKey): Promise<void> {
  const now = seconds();
  await sql`insert into chat_file (id, user_id, chat_id, file_id, message_id, position, entry, created_at, updated_at)
    select gen_random_uuid()::text, ${to.user_id}, ${to.id}, f.file_id, f.message_id, f.position, f.entry, ${now}, ${now}
    from chat_file as f where f.chat_id = ${from} and f.user_id = ${to.user_id}`.execute(tx);
  const { rows: lost } = await sql<{ file_id: string }>`
    select f.file_id from chat_file as f where f.chat_id = ${to.id} and f.message_id is not null
      and not exists (select 1 from chat_message as m where m.chat_id = f.chat_id and m.id = f.message_id)`.execute(
    tx,
  );
  await handOn(
    tx,
    to.id,
    lost.map(({ file_id }) => file_id),
  );
}

/** Gives files to messages that show them. Those that none shows stay only where the chat's own list names them. */
async function handOn(tx: ChatDatabase, chatId: string, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) {
    return;
  }
  const heirs = await findHeirs(tx, chatId, fileIds);
  await sql`update chat_file as f set message_id = p.heirs ->> f.file_id, updated_at = ${seconds()}
    from (select ${toJson(Object.fromEntries(heirs))}::jsonb as heirs) as p
    where f.chat_id = ${chatId} and f.file_id = ${anyOf(fileIds)}`.execute(tx);
  await tx
    .deleteFrom("chat_file")
    .where("chat_id", "=", chatId)
    .where("file_id", "=", anyOf(fileIds))
    .where("message_id", "is", null)
    .where("position", "is", null)
    .execute();
}

/** By file: the newest message that shows it. Texts tell where to look, and what is read there decides. */
async function findHeirs(
  tx: ChatDatabase,
  chatId: string,
  fileIds: readonly string[],
): Promise<Map<string, string>> {
  const anyId = fileIds.join("|");
  const { rows: candidates } = await sql<{ id: string }>`
    select m.id from chat_message as m where m.chat_id = ${chatId} and (m.files::text ~ ${anyId} or m.content::text ~ ${anyId})
    order by m.created_at desc, m.id`.execute(tx);
  const heirs = new Map<string, string>();
  for (const { id } of candidates) {
    if (heirs.size === fileIds.length) {
      break;
    }
    const shown = (await readShown(tx, chatId, [id])).flatMap(filesAndAddresses);
    for (const file of fileIds.filter((one) => shown.includes(one) && !heirs.has(one))) {
      heirs.set(file, id);
    }
  }
  return heirs;
}

async function readShown(tx: ChatDatabase, chatId: string, messageIds: readonly string[]) {
  return await tx
    .selectFrom("chat_message")
    .select(["id", "run_id", "files", "content"])
    .where("chat_id", "=", chatId)
    .where("id", "=", anyOf(messageIds))
    .execute();
}
