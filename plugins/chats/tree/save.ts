import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toJson } from "#storage/values.ts";
import {
  addChatFiles,
  findOwnFiles,
  linkMessageFiles,
  type OwnFiles,
  setChatFiles,
} from "../files/chat-files.ts";
import { relinkFiles } from "../files/file-links.ts";
import { withoutForeignEntries, withoutForeignFiles } from "../files/foreign-files.ts";
import { type ChatRow, insertChat, lockChat, type NewChat, timesAfter } from "../chat-store.ts";
import { readRows } from "../reading/message-rows.ts";
import {
  findChildren,
  findLinks,
  findPlaces,
  findRunning,
  insertMessages,
  writePlan,
} from "./message-store.ts";
import { normalizeMessages } from "./normalize-import.ts";
import { isMoving, type KnownTree, type Place, planTree, type TreePlan } from "./plan-tree.ts";
import { readSentTree, type SentTree } from "./sent-tree.ts";
import type { ChatParts } from "../parts.ts";
import type { SentChat } from "../schema.ts";
import { addTags, tagNamesOf } from "../tags/tag-store.ts";
import { renamed } from "../task-results.ts";
import type { ChatDatabase } from "../tables.ts";

/** What is stored with a new chat besides what the chat object says. */
export type NewChatFacts = Partial<
  Pick<
    NewChat,
    "id" | "meta" | "pinned" | "archived" | "folder_id" | "variables" | "created_at" | "updated_at"
  >
> & { current_message_id?: string | null };

export interface CreateRules {
  /** Mends broken trees instead of refusing them, and what a run was writing when it was taken. */
  readonly heal: boolean;
}

/** A chat that was read and checked, ready to be stored. */
export interface PreparedChat {
  readonly sent: SentChat;
  readonly tree: SentTree;
  readonly own: OwnFiles;
  /** Entries that come to the chat's own list of files; those that are there are not added again. */
  readonly addedFiles?: readonly unknown[] | undefined;
}

export interface MergeRules {
  /** The chat's variables from now on; undefined leaves them. */
  readonly variables?: Record<string, unknown> | null | undefined;
  /** The owner did not see it come: a chat that was unread stays unread. */
  readonly unseen?: boolean | undefined;
}

type Parts = Pick<ChatParts, "db" | "files">;

interface Sending extends Partial<CreateRules>, Pick<PreparedChat, "addedFiles"> {
  readonly sent: SentChat;
  readonly isNew: boolean;
  /** Which files a copy of somebody's chat may show; left out, an import shows those of its owner. */
  mayShow?(fileId: string): boolean;
}

/**
 * Reads and checks a sent chat; nothing is written. Messages of a flat list get ids only where the chat is new: in a
 * stored one a message without an id could be any. Throws `invalid` for what is no tree of messages.
 */
export async function prepareChat(
  { files }: Pick<Parts, "files">,
  owner: Principal,
  { sent, isNew, addedFiles, mayShow, heal = false }: Sending,
): Promise<PreparedChat> {
  const tree = readSentTree(sent, { heal, ...(isNew ? { makeId: randomUUID } : {}) });
  const named = [...(sent.files ?? []), ...(addedFiles ?? [])];
  const own = await findOwnFiles(files, owner.userId, { ...tree, files: named });
  if (mayShow === undefined && !heal) {
    return { sent, tree, addedFiles, own };
  }
  const isShown = mayShow ?? ((file: string) => own.has(file));
  return {
    sent: { ...sent, ...(sent.files ? { files: withoutForeignEntries(sent.files, isShown) } : {}) },
    tree: {
      ...tree,
      messages: tree.messages.map((one) => ({ ...one, message: withoutForeignFiles(one.message, isShown) })),
    },
    own: new Set([...own].filter(isShown)),
  };
}

/** Stores a prepared chat. */
export async function storeChat(
  tx: ChatDatabase,
  owner: Principal,
  { prepared, facts, heal }: { prepared: PreparedChat; facts: NewChatFacts } & CreateRules,
): Promise<ChatRow> {
  const { sent, tree, own } = prepared;
  const { inserts } = planTree(tree.messages, { places: new Map() }, { heal });
  const ids = new Set(tree.messages.map(({ id }) => id));
  const wanted = facts.current_message_id === undefined ? tree.currentId : facts.current_message_id;
  const chat = { id: facts.id ?? randomUUID(), user_id: owner.userId };
  const head = toStoredHead(sent);
  const names = tagNamesOf(facts.meta, sent.tags);
  const { tags: _tags, ...meta } = facts.meta ?? {};
  const row = await insertChat(tx, {
    ...facts,
    ...chat,
    meta,
    title: sent.title ?? "New Chat",
    chat: head,
    current_message_id: toCurrent(wanted, ids, heal ? newest(inserts) : undefined),
  });
  await insertMessages(tx, chat, heal ? normalizeMessages(inserts) : inserts);
  if (own.size > 0) {
    head["files"] = await setChatFiles(tx, chat, { list: sent.files ?? [], own });
    await tx
      .updateTable("chat")
      .set({ chat: toJson(head) })
      .where("id", "=", chat.id)
      .execute();
    await linkMessageFiles(tx, chat, { messages: tree.messages, own });
  }
  return names.length > 0
    ? { ...row, chat: head, meta: await addTags(tx, row, names) }
    : { ...row, chat: head };
}

/**
 * Merges a partial chat into a stored one: its top-level keys replace those that are there, messages are merged key
 * by key, and whatever is not sent stays. Throws `not_found` when the chat is gone, `invalid` for a broken tree.
 */
export async function mergeChat(
  tx: ChatDatabase,
  chatId: string,
  { sent, tree, own, variables, addedFiles = [], unseen = false }: PreparedChat & MergeRules,
): Promise<ChatRow> {
  // Whoever changes the tree holds the chat: two writers never build on what the other is changing.
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
  return { ...row, ...fields };
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

/** What the chat's row keeps of a sent chat object. */
function toStoredHead(sent: SentChat, before: Record<string, unknown> = {}): Record<string, unknown> {
  const {
    title: _title,
    messages: _messages,
    currentId: _currentId,
    tags: _tags,
    history,
    files,
    // Told with every answer, by what is shared at that time.
    share_mode: _mode,
    ...rest
  } = sent;
  const { messages: _tree, currentId: _leaf, ...others } = history ?? {};
  const held = (before["history"] ?? {}) as Record<string, unknown>;
  return {
    ...rest,
    ...(Object.keys(others).length > 0 ? { history: { ...held, ...others } } : {}),
    ...(files ? { files } : {}),
  };
}

/** What the plan needs to know of the stored tree: a few rows, however long the chat is. */
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

function toCurrent(
  wanted: string | null | undefined,
  ids: ReadonlySet<string>,
  fallback: string | null | undefined,
): string | null {
  if (wanted !== undefined && wanted !== null && ids.has(wanted)) {
    return wanted;
  }
  if (fallback !== undefined || wanted === undefined || wanted === null) {
    return fallback ?? null;
  }
  throw new AppError("invalid", `history.currentId names a message that the chat does not have: ${wanted}.`);
}

/** The leaf that was written last, where nobody says which one is shown. */
function newest(inserts: ReturnType<typeof planTree>["inserts"]): string | null {
  const parents = new Set(inserts.map(({ parentId }) => parentId));
  return inserts.findLast(({ sent }) => !parents.has(sent.id))?.sent.id ?? null;
}

function toMap(places: readonly Place[]): Map<string, Place> {
  return new Map(places.map((place) => [place.id, place]));
}
