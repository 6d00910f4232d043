import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { loadManaged } from "./channels.ts";
import { announcePost, storeMessage } from "./messages/posting.ts";
import { announce, type ChannelParts } from "./parts.ts";
import { findChannel } from "./rows/channels.ts";
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  stampWebhook,
  updateWebhook,
  type WebhookRow,
} from "./rows/webhooks.ts";
import { createRateWindow } from "./rate-window.ts";

/** Webhooks of one channel. */
const mostWebhooks = 50;
/** Posts of one webhook, and wrong pairs from one address, within a minute. */
const mostPosts = 60;
const mostWrong = 30;

interface WebhookForm {
  readonly name?: string | undefined;
  readonly profile_image_url?: string | null | undefined;
}

export type WebhookActions = ReturnType<typeof createWebhookActions>;
export type WebhookPosting = ReturnType<typeof createWebhookPosting>;

/** Webhooks in the hands of a channel's managers (channel member rule 3). */
export function createWebhookActions(parts: ChannelParts) {
  const { db, accounts, events } = parts;

  const load = async (caller: Principal, { id, webhook_id }: { id: string; webhook_id: string }) => {
    await loadManaged(parts, caller, id);
    const webhook = await findWebhook(db, webhook_id);
    if (webhook?.channel_id !== id) {
      throw new AppError("not_found", "Webhook not found");
    }
    return webhook;
  };
  const tell = (
    event: `channel.webhook.${"created" | "updated" | "deleted"}`,
    by: Principal,
    { id, name, channel_id: channelId }: WebhookRow,
  ) => announce(events, event, { by, id: channelId, data: { webhook: { id, name } } });
  const requirePicture = (value: string | null | undefined) =>
    value ? accounts.pictures.require(value) : null;

  return {
    async list(caller: Principal, id: string): Promise<WebhookRow[]> {
      await loadManaged(parts, caller, id);
      return await listWebhooks(db, id);
    },

    async create(caller: Principal, id: string, form: WebhookForm & { name: string }): Promise<WebhookRow> {
      await loadManaged(parts, caller, id);
      if ((await listWebhooks(db, id)).length >= mostWebhooks) {
        throw new AppError("invalid", `A channel has at most ${mostWebhooks} webhooks. Delete one first.`);
      }
      const webhook = await insertWebhook(db, {
        channel_id: id,
        user_id: caller.userId,
        name: form.name,
        profile_image_url: requirePicture(form.profile_image_url),
        token: randomBytes(32).toString("base64url"),
      });
      tell("channel.webhook.created", caller, webhook);
      return webhook;
    },

    async update(caller: Principal, place: { id: string; webhook_id: string }, form: WebhookForm) {
      const before = await load(caller, place);
      const changed = await updateWebhook(db, before.id, {
        name: form.name ?? before.name,
        profile_image_url:
          form.profile_image_url === undefined
            ? before.profile_image_url
            : requirePicture(form.profile_image_url),
      });
      if (changed === undefined) {
        throw new AppError("not_found", "Webhook not found");
      }
      tell("channel.webhook.updated", caller, changed);
      return changed;
    },

    async remove(caller: Principal, place: { id: string; webhook_id: string }): Promise<true> {
      const webhook = await load(caller, place);
      await deleteWebhook(db, webhook.id);
      tell("channel.webhook.deleted", caller, webhook);
      return true;
    },
  };
}

/** Posting without a sign-in (configuration document, Channel webhook). */
export function createWebhookPosting(parts: ChannelParts, isEnabled: () => boolean) {
  const { db } = parts;
  const posts = createRateWindow(mostPosts);
  const wrong = createRateWindow(mostWrong);
  return {
    /**
     * Posts a message for whoever holds the pair of id and token. Throws `not_found` for any other pair, `rate_limited`
     * for too many from one address (security case S49).
     */
    async post(pair: { webhook_id: string; token: string }, content: string, address: string) {
      if (!isEnabled()) {
        throw new AppError("forbidden", "Channels are switched off.");
      }
      wrong.require(address);
      const webhook = await findWebhook(db, pair.webhook_id);
      // Digests have one length, and an unknown id takes the comparison as well.
      const isRight = timingSafeEqual(digest(webhook?.token ?? ""), digest(pair.token));
      const channel = webhook && isRight ? await findChannel(db, webhook.channel_id) : undefined;
      if (webhook === undefined || channel === undefined) {
        wrong.count(address);
        throw new AppError("not_found", "Webhook not found");
      }
      posts.require(webhook.id);
      posts.count(webhook.id);
      const message = await storeMessage(parts, {
        message: {
          id: randomUUID(),
          user_id: webhook.user_id,
          channel_id: channel.id,
          parent_id: null,
          reply_to_id: null,
          content,
          data: null,
          meta: { webhook: { id: webhook.id, name: webhook.name } },
        },
      });
      await stampWebhook(db, webhook.id);
      await announcePost(parts, { channel, message, by: null });
      return { success: true as const, message_id: message.id };
    },
  };
}

const digest = (text: string) => createHash("sha256").update(text).digest();
