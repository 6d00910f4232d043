import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { createConcurrencyLimit } from "#kernel/account-limits.ts";
import { AppError } from "#kernel/errors.ts";
import type { AdmittedRun, Completions } from "#plugins/completions/service.ts";
import type { ReplyWriter } from "#plugins/runs/service.ts";
import { readMentions } from "../messages/mentions.ts";
import type { PostListener } from "../messages/messages.ts";
import { announceMessage, emitPost, storeMessage } from "../messages/posting.ts";
import { type ChannelParts, emitToChannel, toAuthor, isManager } from "../parts.ts";
import { type ChannelRow, findChannel } from "../rows/channels.ts";
import { findMessage, linkFiles, type MessageRow } from "../rows/messages.ts";
import type { Bag } from "../tables.ts";
import { showMessage } from "../view.ts";
import { endReplies, leaseEnd, writeReply } from "./leases.ts";
import { toPrompt } from "./prompt.ts";

export interface ReplyParts extends ChannelParts {
  readonly completions: Completions;
  readonly writer: ReplyWriter;
  /** CHANNEL_MODEL_RESPONSE_MODE. */
  responseMode(): "thread" | "channel";
}

/** Updates go out at most six times a second (contract §8), and into the database once. */
const emitEveryMs = 170;
const storeEveryMs = 1_000;
/** Replies that one person may have under way. */
const mostReplies = 8;
const longestMs = 60 * 60 * 1000;

interface Live {
  readonly userId: string;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export interface Asked {
  readonly channel: ChannelRow;
  readonly message: MessageRow;
  readonly by: Principal;
  readonly model: { readonly id: string; readonly label: string };
}

/** Models that answer where a message mentions them. The reply belongs to the server, whoever closes a window. */
export function createModelReplies(parts: ReplyParts) {
  const live = new Map<string, Live>();
  const limit = createConcurrencyLimit({ limit: () => mostReplies, what: "replies of models in channels" });
  async function answer(asked: Asked): Promise<void> {
    const { message, by, model } = asked;
    const parentId = message.parent_id ?? (parts.responseMode() === "thread" ? message.id : null);
    let admitted: AdmittedRun | undefined;
    let refusal: string | undefined;
    let leave = () => {};
    try {
      leave = limit.enter(by.userId);
      const probe = { model: model.id, messages: [{ role: "user", content: "" }] };
      admitted = await parts.completions.admit(probe, { principal: by });
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      refusal = error.message;
    }
    const name = admitted?.model.name ?? model.label;
    const meta = { model_id: model.id, model_name: name, asked_by: message.id };
    try {
      const row = await place(parts, asked, { parentId, meta, refusal });
      if (admitted !== undefined) {
        await write(parts, live, { ...asked, admitted, row, parentId, meta });
      }
    } finally {
      leave();
    }
  }

  /** Has a model answer; the reply is written while the caller goes on. */
  const ask = (asked: Asked): void => {
    answer(asked).catch((error: unknown) =>
      parts.log.error({ err: error }, "a model could not be asked in a channel"),
    );
  };
  const posted: PostListener = ({ channel, message, by }) => {
    if (by.app !== undefined) {
      // No person would answer for the tokens, and an app and a model could talk with each other for ever.
      return;
    }
    for (const model of readMentions(message.content).models) {
      ask({ channel, message, by, model });
    }
  };
  return { posted, ask, ...createReplyEnds(parts, live) };
}

/** How replies end before their model is done. */
function createReplyEnds(parts: ReplyParts, live: ReadonlyMap<string, Live>) {
  const { db, channels } = parts;
  return {
    /** Stops a reply on whichever replica it is written. */
    async stop(caller: Principal, { id, message_id }: { id: string; message_id: string }): Promise<true> {
      const channel = await channels.load(caller, id, "write");
      const row = await findMessage(db, id, message_id);
      if (row === undefined) {
        throw new AppError("not_found", "Message not found");
      }
      if (row.user_id !== caller.userId && !isManager(caller, channel)) {
        throw new AppError("forbidden", "Only who asked the model and managers of the channel may stop it.");
      }
      const here = live.get(message_id);
      here?.controller.abort();
      await here?.ended;
      for (const ended of await endReplies(db, { id: message_id }, undefined)) {
        await tellEnd(parts, channel, ended);
      }
      return true;
    },

    /** Ends what an account asked for that may not use the platform any more. */
    stopUser(userId: string): void {
      [...live.values()].filter((one) => one.userId === userId).forEach((one) => one.controller.abort());
    },

    /** Ends the replies of processes that died. */
    async endExpired(): Promise<void> {
      for (const row of await endReplies(
        db,
        "expired",
        "Interrupted when the server restarted. What was written is kept.",
      )) {
        const channel = await findChannel(db, row.channel_id);
        if (channel !== undefined) {
          await tellEnd(parts, channel, row);
        }
      }
    },

    /** Waits for replies under way, and interrupts those that take longer. */
    async drain(graceMs: number): Promise<void> {
      const timer = setTimeout(() => [...live.values()].forEach((one) => one.controller.abort()), graceMs);
      await Promise.all([...live.values()].map(({ ended }) => ended));
      clearTimeout(timer);
    },
  };
}

/** The message that the reply grows in. */
async function place(
  parts: ReplyParts,
  { channel, message, by }: Asked,
  { parentId, meta, refusal }: { parentId: string | null; meta: Bag; refusal: string | undefined },
): Promise<MessageRow> {
  const row = await storeMessage(parts, {
    message: {
      id: randomUUID(),
      user_id: by.userId,
      channel_id: channel.id,
      parent_id: parentId,
      reply_to_id: parentId === null ? message.id : null,
      content: "",
      data: null,
      meta:
        refusal === undefined
          ? { ...meta, done: false }
          : { ...meta, done: true, error: { content: refusal } },
      writing_until: refusal === undefined ? leaseEnd() : null,
    },
  });
  await emitPost(parts, { channel, message: row, by });
  return row;
}

async function write(
  parts: ReplyParts,
  live: Map<string, Live>,
  asked: Asked & { admitted: AdmittedRun; row: MessageRow; parentId: string | null; meta: Bag },
): Promise<void> {
  const { channel, message, by, admitted, row, meta } = asked;
  const controller = new AbortController();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  live.set(row.id, { userId: by.userId, controller, ended });
  const limitTimer = setTimeout(() => controller.abort(), longestMs).unref();
  const growing = await startGrowing(parts, { ...asked, abort: () => controller.abort() });
  try {
    const messages = await toPrompt(parts, { ...asked, modelName: admitted.model.name });
    const written = await parts.writer.write({
      admitted,
      request: {
        model: asked.model.id,
        messages,
        stream: true,
        chat_id: `channel:${channel.id}`,
        id: row.id,
        // Built-in tools are offered to replies with a session; no window answers for this one.
        session_id: `channel:${row.id}`,
      },
      principal: by,
      signal: controller.signal,
      onText: growing.grow,
    });
    growing.stop();
    await finish(parts, { channel, message, by, row, meta }, written);
  } catch (error) {
    parts.log.error({ err: error }, "a reply in a channel failed");
    await endReplies(parts.db, { id: row.id }, "The reply could not be written.");
  } finally {
    growing.stop();
    clearTimeout(limitTimer);
    live.delete(row.id);
    end();
  }
}

/** Shows and stores a reply while it grows; `abort` is called when it was stopped elsewhere, or its person is gone. */
async function startGrowing(
  parts: ReplyParts,
  {
    channel,
    by,
    row,
    meta,
    abort,
  }: Pick<Asked, "channel" | "by"> & { row: MessageRow; meta: Bag; abort(): void },
) {
  const { db, log } = parts;
  const shown = await showMessage(parts, row);
  let text = "";
  let sent = "";
  const emit = () => {
    if (text !== sent) {
      sent = text;
      emitToChannel(parts.hub, channel, {
        type: "message:update",
        data: { ...shown, content: text },
        messageId: row.id,
        user: toAuthor(by),
      });
    }
  };
  const emitting = setInterval(emit, emitEveryMs);
  const storing = setInterval(() => {
    void (async () => {
      const kept = await writeReply(db, row.id, {
        content: text,
        meta: { ...meta, done: false },
        isDone: false,
      });
      if (kept === undefined || (await parts.accounts.principalOf(by.userId)) === undefined) {
        abort();
      }
    })().catch((error: unknown) => log.warn({ err: error }, "a reply in a channel could not be stored"));
  }, storeEveryMs);
  return {
    grow(all: string): void {
      // The first words go out at once.
      const isFirst = text === "";
      text = all;
      if (isFirst) {
        emit();
      }
    },
    stop(): void {
      clearInterval(emitting);
      clearInterval(storing);
    },
  };
}

async function finish(
  parts: ReplyParts,
  { channel, by, row, meta }: Pick<Asked, "channel" | "message" | "by"> & { row: MessageRow; meta: Bag },
  { content, error, files }: Awaited<ReturnType<ReplyWriter["write"]>>,
): Promise<void> {
  const kept = files.filter((file) => file.id !== undefined);
  const changed = await writeReply(parts.db, row.id, {
    content,
    meta: { ...meta, done: true, ...(error !== undefined && { error: { content: error } }) },
    ...(kept.length > 0 && { data: { files: kept } }),
    isDone: true,
  });
  if (changed !== undefined) {
    const place = { userId: by.userId, channelId: channel.id, messageId: row.id };
    await linkFiles(
      parts.db,
      place,
      kept.map(({ id }) => id as string),
    );
    const shown = await tellEnd(parts, channel, changed);
    announceMessage(parts, { channel, message: changed, by }, shown);
  }
}

async function tellEnd(parts: ReplyParts, channel: ChannelRow, row: MessageRow) {
  const shown = await showMessage(parts, row);
  emitToChannel(parts.hub, channel, { type: "message:update", data: shown, messageId: row.id, user: null });
  return shown;
}
