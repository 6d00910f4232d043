import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { findOwnFiles, type OwnFiles } from "../files/chat-files.ts";
import { withoutForeignEntries, withoutForeignFiles } from "../files/foreign-files.ts";
import { readSentTree, type SentTree } from "./sent-tree.ts";
import type { ChatParts } from "../parts.ts";
import type { SentChat } from "../schema.ts";

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

/** The keys of a sent chat object that the chat's row keeps. */
export function toStoredHead(sent: SentChat, before: Record<string, unknown> = {}): Record<string, unknown> {
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

export function toCurrent(
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
