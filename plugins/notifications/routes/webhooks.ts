import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/event-envelope.ts";
import type { Events } from "#kernel/events.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Deployment } from "#kernel/services.ts";
import { type Deliveries, toLogged } from "../deliveries/deliveries.ts";
import { post } from "../deliveries/post.ts";
import { toActor } from "../parts.ts";
import {
  ByDelivery,
  ById,
  Catalogue,
  Delivery,
  environmentWebhook,
  limits,
  NewWebhook,
  TestResult,
  Webhook,
  WebhookEdit,
} from "../schema.ts";
import { toTestResult } from "../targets/targets.ts";
import { eventCatalogue } from "../webhooks/event-names.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

const access = "admin";

interface WebhookRouteParts {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly deployment: Pick<Deployment, "instanceId" | "version" | "name">;
  readonly egress: Pick<Egress, "fetch">;
  readonly events: Pick<Events, "announce">;
}

/** Event webhooks of administrators (contract §9), below `/api`. */
export function webhookRoutes(parts: WebhookRouteParts) {
  return [...rowRoutes(parts), ...deliveryRoutes(parts)] as const;
}

function rowRoutes({ webhooks }: WebhookRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/api/events",
        summary: "List every system event that webhooks and Event functions can be told of",
        access,
        returns: Catalogue,
      },
      () => [...eventCatalogue],
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/events/webhooks",
        summary: "List event webhooks; their addresses are masked",
        access,
        returns: z.array(Webhook),
      },
      () => webhooks.list(),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/api/events/webhooks",
        summary: "Add an event webhook; the answer alone shows its signing secret",
        access,
        body: NewWebhook,
        returns: Webhook,
        fails: [400],
      },
      ({ caller, body }) => webhooks.create(caller, body),
    ),
    defineRoute(
      {
        method: "PUT",
        path: "/api/events/webhooks/:id",
        summary: "Change an event webhook; an address that is left out or masked stays",
        access,
        params: ById,
        body: WebhookEdit,
        returns: Webhook,
        fails: [400, 404],
      },
      ({ caller, params, body }) => webhooks.update(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/api/events/webhooks/:id",
        summary: "Delete an event webhook with its deliveries",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [404],
      },
      ({ caller, params }) => webhooks.remove(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/api/events/webhooks/:id/secret",
        summary: "Make a new signing secret; the answer alone shows it",
        access,
        params: ById,
        returns: Webhook,
        fails: [404],
      },
      ({ caller, params }) => webhooks.renewSecret(caller, params.id),
    ),
  ] as const;
}

function deliveryRoutes({ webhooks, deliveries, deployment, egress, events }: WebhookRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/api/events/webhooks/:id/test",
        summary: "Send `notification.test` to an event webhook at once",
        access,
        params: ById,
        returns: TestResult,
        fails: [404],
      },
      async ({ caller, params: { id }, request }) => {
        await webhooks.require(id);
        const address = await webhooks.addressOf(id);
        if (typeof address === "string") {
          return { success: false, status: null, error: address };
        }
        const announced = events.announce("notification.test", {
          actor: toActor(caller),
          subject: { type: "event_webhook", id },
        });
        const envelope = toEnvelope(announced, deployment);
        return toTestResult(
          await post(egress, address, { id: envelope.id, envelope, signal: request.signal }),
        );
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/events/webhooks/:id/deliveries",
        summary: `List the last ${limits.deliveries} deliveries of a webhook, newest first; \`environment\` names WEBHOOK_URL`,
        access,
        params: ById,
        returns: z.array(Delivery),
        fails: [404],
      },
      async ({ params: { id } }) => {
        if (id !== environmentWebhook) {
          await webhooks.require(id);
        }
        return (await deliveries.list(id, limits.deliveries)).map(toLogged);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/api/events/webhooks/:id/deliveries/:delivery_id/retry",
        summary: "Queue a failed delivery once more",
        access,
        params: ByDelivery,
        returns: z.literal(true),
        fails: [404],
      },
      async ({ params: { id, delivery_id: deliveryId } }) => {
        if (!(await deliveries.retry(id, deliveryId))) {
          throw new AppError("not_found", "There is no failed delivery with this id.");
        }
        return true;
      },
    ),
  ] as const;
}
