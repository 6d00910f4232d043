import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { MessageActions } from "../messages/messages.ts";
import type { ChannelParts } from "../parts.ts";
import { findMessage } from "../rows/messages.ts";
import type { Asked } from "./replies.ts";

interface Place {
  readonly id: string;
  readonly message_id: string;
}

interface RetryParts extends Pick<ChannelParts, "db" | "channels"> {
  readonly remove: MessageActions["remove"];
  ask(asked: Asked): void;
}

/** Has a model answer again in the place of a reply that failed; who asked it pays for its tokens, and may alone. */
export function createRetry({ db, channels, remove, ask }: RetryParts) {
  return async (by: Principal, place: Place): Promise<true> => {
    const channel = await channels.load(by, place.id, "write");
    const failed = await findMessage(db, channel.id, place.message_id);
    if (failed === undefined) {
      throw new AppError("not_found", "Message not found");
    }
    if (failed.user_id !== by.userId) {
      throw new AppError("forbidden", "Only the person who asked the model may ask it again.");
    }
    const { model_id: id, model_name: label, asked_by: askedBy, error } = failed.meta ?? {};
    if (typeof id !== "string" || error === undefined) {
      throw new AppError("invalid", "message_id: this is no failed reply of a model.");
    }
    const askedId = askedBy ?? failed.reply_to_id ?? failed.parent_id;
    const message = await findMessage(db, channel.id, String(askedId));
    if (message === undefined) {
      throw new AppError("not_found", "The message that the model was to answer is gone.");
    }
    await remove(by, place);
    ask({ channel, message, by, model: { id, label: String(label ?? id) } });
    return true;
  };
}
