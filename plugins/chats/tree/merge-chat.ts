import { AppError } from "#kernel/errors.ts";
import { toJson } from "#storage/values.ts";
import { addChatFiles, linkMessageFiles, setChatFiles } from "../files/chat-files.ts";
import { relinkFiles } from "../files/file-links.ts";
import { type ChatRow, lockChat, timesAfter } from "../chat-store.ts";
import { readRows } from "../reading/message-rows.ts";
import { findChildren, findLinks, findPlaces, findRunning, writePlan } from "./message-store.ts";
import { isMoving, type KnownTree, type Place, planTree, type TreePlan } from "./plan-tree.ts";
import { type SentTree } from "./sent-tree.ts";
import { renamed } from "../task-results.ts";
import type { ChatDatabase } from "../tables.ts";
import { type PreparedChat, toCurrent, toStoredHead } from "./prepare-chat.ts";

export interface MergeRules {
  /** The chat's variables from now on; undefined leaves them. */
  readonly variables?: Record<string, unknown> | null | undefined;
  /** The owner did not see it come: a chat that was unread stays unread. */
  readonly unseen?: boolean | undefined;
}

export interface MergedChat {
  readonly row: ChatRow;
  /** Messages that were not there before. */
  readonly added: readonly { readonly id: string; readonly role: string }[];
}

/**
 * Merges a partial chat into a stored one: its top-level keys replace those that are there, messages are merged key
 * by key, and whatever is not sent stays. Throws `not_found` when the chat is gone, `invalid` for a broken tree.
 */
export async function mergeChat(
  tx: ChatDatabase,
  chatId: string,
  { sent, tree, own, variables, addedFiles = [], unseen = false }: PreparedChat & MergeRules,
): Promise<MergedChat> {
  // The lock keeps two writers from building on what the other is changing.
  const row = await lockChat(tx, chatId);
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  const known = await readKnown(tx, chatId, tree);
  const plan = planTree(tree.messages, known, { heal: false });
  await requireNoEdit(tx, chatId, plan.patches);
  const isChanged = await writePlan(tx, row, plan);
  const current = await toMergedCurrent(tx, row, { tree, known });
  const head = { ...row.chat, ...toStoredHead(sent, row.chat) };
  if (sent.files) {
    head["files"] = await setChatFiles(tx, row, { list: sent.files, own });
  } else if (addedFiles.length > 0) {
    head["files"] = await addChatFiles(tx, row, { list: addedFiles, own });
  }
  await linkMessageFiles(tx, row, { messages: tree.messages, own });
  const shown = plan.patches.filter(({ sent: { message } }) => "files" in message || "content" in message);
  await relinkFiles(tx, chatId, { messageIds: shown.map((patch) => patch.sent.id) });
  // A leaf that changes is another conversation to see, but nothing new was said.
  const { last_read_at, ...moved } = timesAfter(row);
  const times = isChanged ? { ...moved, ...(unseen ? {} : { last_read_at }) } : {};
  const title = sent.title ?? row.title;
  // A title that a person chose is never replaced by one that a model finds.
  const named = title === row.title ? {} : { meta: { ...row.meta, [renamed]: true } };
  const kept = variables === undefined ? {} : { variables: variables ?? {} };
  const fields = { chat: head, title, current_message_id: current, ...times, ...named, ...kept };
  await tx
    .updateTable("chat")
    .set({ ...fields, chat: toJson(head), ...(kept.variables && { variables: toJson(kept.variables) }) })
    .where("id", "=", chatId)
    .execute();
  const added = plan.inserts.map(({ sent: { id, message } }) => ({ id, role: String(message["role"]) }));
  return { row: { ...row, ...fields }, added };
}

/**
 * Throws `conflict` for a change of what a running reply says. Clients that store whole chats send the reply back as far
 * as they have seen it: that is no change, and ignored (architecture.md §7).
 */
async function requireNoEdit(tx: ChatDatabase, chatId: string, patches: TreePlan["patches"]): Promise<void> {
  const contents = new Map(
    patches.flatMap(({ sent: { id, message } }) => ("content" in message ? [[id, message["content"]]] : [])),
  );
  const running = contents.size === 0 ? [] : await findRunning(tx, chatId, [...contents.keys()]);
  const rows = running.length === 0 ? undefined : await readRows(tx, chatId, running);
  for (const [id, row] of rows ?? []) {
    const [stored, sent] = [row.value()["content"] ?? "", contents.get(id) ?? ""].map(String) as [
      string,
      string,
    ];
    if (!stored.startsWith(sent) && !sent.startsWith(stored)) {
      throw new AppError("conflict", `The message ${id} is being written. Stop the reply first.`);
    }
  }
}

/** The part of the stored tree that the plan needs: a few rows, however long the chat is. */
async function readKnown(tx: ChatDatabase, chatId: string, { messages }: SentTree): Promise<KnownTree> {
  if (messages.length === 0) {
    return { places: new Map() };
  }
  const ids = new Set(messages.map(({ id }) => id));
  for (const { parentId } of messages) {
    if (parentId) {
      ids.add(parentId);
    }
  }
  const places = toMap(await findPlaces(tx, chatId, [...ids]));
  const claimed = new Map(
    messages.flatMap(({ id, childrenIds }) => (childrenIds ?? []).map((child) => [child, id])),
  );
  const touched = new Set<string | null>();
  for (const { id, parentId, childrenIds } of messages) {
    const place = places.get(id);
    const parent = parentId === undefined ? (place ? place.parent_id : (claimed.get(id) ?? null)) : parentId;
    if (place === undefined || place.parent_id !== parent) {
      touched.add(parent);
    }
    if (childrenIds !== undefined) {
      touched.add(id);
    }
  }
  const siblings = touched.size === 0 ? [] : await findChildren(tx, chatId, [...touched]);
  const all = new Map([...toMap(siblings), ...places]);
  return isMoving(messages, places) ? { places: all, parents: await findLinks(tx, chatId) } : { places: all };
}

async function toMergedCurrent(
  tx: ChatDatabase,
  row: ChatRow,
  { tree, known }: { tree: SentTree; known: KnownTree },
): Promise<string | null> {
  const { currentId } = tree;
  if (currentId === undefined || currentId === null || currentId === row.current_message_id) {
    return currentId === undefined ? row.current_message_id : currentId;
  }
  const isHere = known.places.has(currentId) || tree.messages.some(({ id }) => id === currentId);
  const found = isHere || (await findPlaces(tx, row.id, [currentId])).length > 0;
  return toCurrent(currentId, new Set(found ? [currentId] : []), undefined);
}

function toMap(places: readonly Place[]): Map<string, Place> {
  return new Map(places.map((place) => [place.id, place]));
}
