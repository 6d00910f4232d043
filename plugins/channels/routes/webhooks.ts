import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { ById, ByToken, ByWebhook, NewWebhook, Webhook, WebhookChange, WebhookPost } from "../schema.ts";
import type { WebhookActions, WebhookPosting } from "../webhooks.ts";
import { access } from "./channels.ts";

/** Webhooks of a channel, and posting through one (configuration document, Channel webhook). */
export function webhookRoutes(webhooks: WebhookActions, posting: WebhookPosting) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/channels/:id/webhooks",
        summary: "List the webhooks of a channel with their tokens (its creator and administrators)",
        access,
        params: ById,
        returns: z.array(Webhook),
        fails: [403, 404],
      },
      ({ caller, params }) => webhooks.list(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/webhooks/create",
        summary: "Make a webhook (the channel's creator and administrators)",
        access,
        params: ById,
        body: NewWebhook,
        returns: Webhook,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => webhooks.create(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/webhooks/:webhook_id/update",
        summary: "Change the name or picture of a webhook",
        access,
        params: ByWebhook,
        body: WebhookChange,
        returns: Webhook,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => webhooks.update(caller, params, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/channels/:id/webhooks/:webhook_id/delete",
        summary: "Delete a webhook",
        access,
        params: ByWebhook,
        returns: z.literal(true),
        fails: [403, 404],
      },
      ({ caller, params }) => webhooks.remove(caller, params),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/webhooks/:webhook_id/:token",
        summary: "Post a message without a sign-in; the pair of id and token decides",
        access: "public",
        params: ByToken,
        body: WebhookPost,
        returns: z.object({ success: z.literal(true), message_id: z.string() }),
        fails: [404, 429],
      },
      ({ params, body, request }) => posting.post(params, body.content, request.address),
    ),
  ] as const;
}
