import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { toJson } from "#storage/values.ts";
import { linkMessageFiles, setChatFiles } from "../files/chat-files.ts";
import { type ChatRow, insertChat, type NewChat } from "../chat-store.ts";
import { insertMessages } from "./message-store.ts";
import { normalizeMessages } from "./normalize-import.ts";
import { planTree, type TreePlan } from "./plan-tree.ts";
import { addTags, tagNamesOf } from "../tags/tag-store.ts";
import type { ChatDatabase } from "../tables.ts";
import { type CreateRules, type PreparedChat, toCurrent, toStoredHead } from "./prepare-chat.ts";

/** Fields of a new chat that are not part of the chat object. */
export type NewChatFacts = Partial<
  Pick<
    NewChat,
    "id" | "meta" | "pinned" | "archived" | "folder_id" | "variables" | "created_at" | "updated_at"
  >
> & { current_message_id?: string | null };

/** A new chat that is ready to be stored. */
export interface PlannedChat extends Pick<PreparedChat, "sent" | "tree" | "own"> {
  readonly chat: { readonly id: string; readonly user_id: string };
  readonly values: NewChat;
  readonly inserts: TreePlan["inserts"];
  readonly tagNames: readonly string[];
}

interface NewChatOptions extends CreateRules {
  readonly prepared: PreparedChat;
  readonly facts: NewChatFacts;
}

/** Decides what is stored of a prepared chat. Throws `invalid` for a broken tree. */
export function planChat(owner: Principal, { prepared, facts, heal }: NewChatOptions): PlannedChat {
  const { sent, tree, own } = prepared;
  const { inserts } = planTree(tree.messages, { places: new Map() }, { heal });
  const ids = new Set(tree.messages.map(({ id }) => id));
  const wanted = facts.current_message_id === undefined ? tree.currentId : facts.current_message_id;
  const chat = { id: facts.id ?? randomUUID(), user_id: owner.userId };
  const { tags: _tags, ...meta } = facts.meta ?? {};
  const values = {
    ...facts,
    ...chat,
    meta,
    title: sent.title ?? "New Chat",
    chat: toStoredHead(sent),
    current_message_id: toCurrent(wanted, ids, heal ? newest(inserts) : undefined),
  };
  const all = heal ? normalizeMessages(inserts) : inserts;
  return { sent, tree, own, chat, values, inserts: all, tagNames: tagNamesOf(facts.meta, sent.tags) };
}

export const insertHead = (tx: ChatDatabase, { values }: PlannedChat) => insertChat(tx, values);

/** Stores a prepared chat. */
export async function storeChat(
  tx: ChatDatabase,
  owner: Principal,
  options: NewChatOptions,
): Promise<ChatRow> {
  const plan = planChat(owner, options);
  const row = await insertHead(tx, plan);
  await insertMessages(tx, plan.chat, plan.inserts);
  return await finishChat(tx, plan, row);
}

/** Stores what follows the messages of a new chat: its files and tags. */
export async function finishChat(
  tx: ChatDatabase,
  { sent, tree, own, chat, values, tagNames }: PlannedChat,
  row: ChatRow,
): Promise<ChatRow> {
  const head = { ...values.chat };
  if (own.size > 0) {
    head["files"] = await setChatFiles(tx, chat, { list: sent.files ?? [], own });
    await tx
      .updateTable("chat")
      .set({ chat: toJson(head) })
      .where("id", "=", chat.id)
      .execute();
    await linkMessageFiles(tx, chat, { messages: tree.messages, own });
  }
  return tagNames.length > 0
    ? { ...row, chat: head, meta: await addTags(tx, row, tagNames) }
    : { ...row, chat: head };
}

/** The leaf that was written last, where nobody says which one is shown. */
function newest(inserts: ReturnType<typeof planTree>["inserts"]): string | null {
  const parents = new Set(inserts.map(({ parentId }) => parentId));
  return inserts.findLast(({ sent }) => !parents.has(sent.id))?.sent.id ?? null;
}
