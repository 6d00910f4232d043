import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { nanoseconds } from "#storage/clock.ts";
import {
  announce,
  type ChannelEvent,
  type ChannelParts,
  emitToChannel,
  toAuthor,
  isManager,
} from "../parts.ts";
import type { ChannelRow } from "../rows/channels.ts";
import { deleteMessage, findMessage, linkFiles, type MessageRow, updateMessage } from "../rows/messages.ts";
import { addReaction, mostNames, reactionsOf, removeReaction } from "../rows/reactions.ts";
import type { Bag } from "../tables.ts";
import { filesOf, showMessage, type ShownMessage } from "../view.ts";
import { createRateWindow } from "../rate-window.ts";
import { announcePost, storeMessage, tellParent, toFacts } from "./posting.ts";

export interface MessageForm {
  readonly content: string;
  readonly temp_id?: string | null | undefined;
  readonly parent_id?: string | null | undefined;
  readonly reply_to_id?: string | null | undefined;
  readonly data?: Bag | null | undefined;
  readonly meta?: Bag | null | undefined;
}

/** Keys of `meta` that only the platform writes: they say who speaks. */
const reserved = new Set(["model_id", "model_name", "done", "error", "webhook", "app", "edited_at"]);
/** Posts of one app within a minute: two apps that answer each other do not fill a channel. */
const mostAppPosts = 60;

/** Told of each message that a person or a webhook posted. */
export type PostListener = (post: {
  readonly channel: ChannelRow;
  readonly message: MessageRow;
  readonly by: Principal;
}) => void;

export type Posting = ReturnType<typeof createPosting>;

/** Posts of people; `posted` wakes models that a message mentions. */
export function createPosting(parts: ChannelParts, posted: PostListener) {
  const { channels } = parts;
  const ofApps = createRateWindow(mostAppPosts);
  return {
    async post(caller: Principal, id: string, form: MessageForm) {
      const channel = await channels.load(caller, id, "write");
      if (caller.app !== undefined) {
        ofApps.require(caller.app.id);
        ofApps.count(caller.app.id);
      }
      const data = form.data ?? null;
      const fileIds = await requireFiles(parts, caller, data);
      if (form.content.trim() === "" && fileIds.length === 0) {
        throw new AppError("invalid", "content: write something, or add a file.");
      }
      const parentId = form.parent_id ?? null;
      await requireNeighbours(parts, channel, { parentId, replyToId: form.reply_to_id ?? null });
      const message = await storeMessage(parts, {
        message: {
          id: randomUUID(),
          user_id: caller.userId,
          channel_id: id,
          parent_id: parentId,
          reply_to_id: form.reply_to_id ?? null,
          content: form.content,
          data,
          meta: cleanMeta(form.meta, caller),
        },
        fileIds,
      });
      const shown = await announcePost(parts, { channel, message, by: caller, tempId: form.temp_id ?? null });
      posted({ channel, message, by: caller });
      return { ...shown, temp_id: form.temp_id ?? null };
    },
  };
}

export type MessageActions = ReturnType<typeof createMessageActions>;

/** Actions on messages that stand (contract §8). */
export function createMessageActions(parts: ChannelParts) {
  const { db, transaction, events, hub } = parts;
  return {
    /** Only the author changes the words; a model's reply stays what the model said. */
    async update(
      caller: Principal,
      place: { id: string; message_id: string },
      form: { content: string; data?: Bag | null | undefined; meta?: Bag | null | undefined },
    ): Promise<ShownMessage> {
      const found = await load(parts, caller, place);
      requireAuthor(caller, found, { orManager: false });
      const { message } = found;
      if (message.meta?.["model_id"] !== undefined) {
        throw new AppError(
          "forbidden",
          "The words of a model cannot be changed; delete the message instead.",
        );
      }
      const data = form.data === undefined ? message.data : form.data;
      const fileIds = form.data === undefined ? [] : await requireFiles(parts, caller, data, message.data);
      if (form.content.trim() === "" && filesOf(data).length === 0) {
        throw new AppError("invalid", "content: write something, or delete the message.");
      }
      const meta = {
        ...(form.meta === undefined ? message.meta : cleanMeta(form.meta, caller)),
        edited_at: nanoseconds().toString(),
      };
      const changed = await transaction(async (tx) => {
        await linkFiles(tx, { userId: caller.userId, channelId: place.id, messageId: message.id }, fileIds);
        return await updateMessage(tx, message.id, { content: form.content, data, meta });
      });
      return await tell(
        parts,
        { ...found, message: requireRow(changed) },
        { type: "message:update", event: "message.updated", by: caller },
      );
    },

    async pin(caller: Principal, place: { id: string; message_id: string }, isPinned: boolean) {
      const found = await load(parts, caller, place);
      requireAuthor(caller, found, { orManager: true });
      const changed = await updateMessage(db, place.message_id, {
        is_pinned: isPinned,
        pinned_by: isPinned ? caller.userId : null,
        pinned_at: isPinned ? nanoseconds() : null,
      });
      return await tell(
        parts,
        { ...found, message: requireRow(changed) },
        { type: "message:update", event: isPinned ? "message.pinned" : "message.unpinned", by: caller },
      );
    },

    /** Takes the thread of the message along. */
    async remove(caller: Principal, place: { id: string; message_id: string }): Promise<true> {
      const found = await load(parts, caller, place);
      requireAuthor(caller, found, { orManager: true });
      const { channel, message } = found;
      await transaction((tx) => deleteMessage(tx, message));
      emitToChannel(hub, channel, {
        type: "message:delete",
        data: { id: message.id, parent_id: message.parent_id },
        messageId: message.id,
        user: toAuthor(caller),
      });
      announce(events, "message.deleted", {
        by: caller,
        id: message.id,
        data: { channel_id: channel.id, message: { id: message.id, parent_id: message.parent_id } },
      });
      await tellParent(parts, channel, message.parent_id, toAuthor(caller));
      return true;
    },
  };
}

export type ReactionActions = ReturnType<typeof createReactions>;

/** Reactions to messages. */
export function createReactions(parts: ChannelParts) {
  const { db } = parts;
  return {
    async react(
      caller: Principal,
      place: { id: string; message_id: string },
      { name, isAdded }: { name: string; isAdded: boolean },
    ): Promise<true> {
      const found = await load(parts, caller, place);
      const { message } = found;
      const reaction = { userId: caller.userId, messageId: message.id, name };
      if (isAdded) {
        const held = (await reactionsOf(db, [message.id])).get(message.id) ?? [];
        if (held.length >= mostNames && !held.some((one) => one.name === name)) {
          throw new AppError("invalid", `name: a message carries at most ${mostNames} different reactions.`);
        }
      }
      const hasChanged = isAdded ? await addReaction(db, reaction) : await removeReaction(db, reaction);
      if (hasChanged) {
        const what = isAdded ? "add" : "remove";
        await tell(parts, found, {
          type: `message:reaction:${what}`,
          event: isAdded ? "message.reaction_added" : "message.reaction_removed",
          by: caller,
          data: { reaction: { name, user_id: caller.userId } },
        });
      }
      return true;
    },
  };
}

interface Place {
  readonly channel: ChannelRow;
  readonly message: MessageRow;
}

/** A message of the channel, for somebody who may write there. */
async function load(
  { db, channels }: ChannelParts,
  caller: Principal,
  place: { id: string; message_id: string },
): Promise<Place> {
  const channel = await channels.load(caller, place.id, "write");
  const message = await findMessage(db, channel.id, place.message_id);
  if (message === undefined) {
    throw new AppError("not_found", "Message not found");
  }
  return { channel, message };
}

/** Security case S37: only the author, and for what managers may do the manager. */
function requireAuthor(
  caller: Principal,
  { channel, message }: Place,
  { orManager }: { orManager: boolean },
): void {
  const isAuthor = message.user_id === caller.userId && message.meta?.["webhook"] === undefined;
  if (!isAuthor && !(orManager && isManager(caller, channel))) {
    throw new AppError("forbidden", "This is the message of somebody else.");
  }
}

async function tell(
  parts: ChannelParts,
  { channel, message }: Place,
  { type, event, by, data }: { type: string; event: ChannelEvent; by: Principal; data?: Bag },
): Promise<ShownMessage> {
  const { hub, events } = parts;
  const shown = await showMessage(parts, message);
  emitToChannel(hub, channel, { type, data: shown, messageId: message.id, user: toAuthor(by) });
  announce(events, event, {
    by,
    id: message.id,
    data: { channel_id: channel.id, message: toFacts(message), author: shown.user, ...data },
  });
  return shown;
}

function requireRow(row: MessageRow | undefined): MessageRow {
  if (row === undefined) {
    throw new AppError("not_found", "Message not found");
  }
  return row;
}

/** The client's keys, and the mark of an app that speaks. */
function cleanMeta(meta: Bag | null | undefined, { app, name }: Principal): Bag | null {
  const kept: [string, unknown][] = Object.entries(meta ?? {}).filter(([key]) => !reserved.has(key));
  if (app !== undefined) {
    kept.push(["app", { id: app.id, name }]);
  }
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** Threads have one level, and what a message answers stands in the same channel. */
async function requireNeighbours(
  { db }: ChannelParts,
  { id }: ChannelRow,
  { parentId, replyToId }: { parentId: string | null; replyToId: string | null },
): Promise<void> {
  const parent = parentId === null ? null : await findMessage(db, id, parentId);
  if (parent === undefined) {
    throw new AppError("not_found", "The message of this thread is not in the channel.");
  }
  if (parent !== null && parent.parent_id !== null) {
    throw new AppError("invalid", "parent_id: this message is in a thread itself; answer in that thread.");
  }
  if (replyToId !== null && (await findMessage(db, id, replyToId)) === undefined) {
    throw new AppError("not_found", "The message that is answered is not in the channel.");
  }
}

/** Ids of the files that `data` adds. A file is lent to all readers of the channel, so only its owner may post it. */
async function requireFiles(
  { files }: ChannelParts,
  caller: Principal,
  data: Bag | null,
  held: Bag | null = null,
): Promise<string[]> {
  const kept = new Set(filesOf(held).map(({ id }) => id));
  const ids = [...new Set(filesOf(data).map(({ id }) => id))].filter((id) => !kept.has(id));
  const owners = await files.owners(ids);
  if (ids.some((id) => owners.get(id) !== caller.userId)) {
    throw new AppError(
      "not_found",
      "data.files: only files of your own can be posted. Upload the file first.",
    );
  }
  return ids;
}
