import { randomUUID } from "node:crypto";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/event-envelope.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { seconds } from "#storage/clock.ts";
import { DeliveryShape, DeliveryTestShape } from "#plugins/notifications/service.ts";
import { toAddress } from "../events/receivers.ts";
import { areChannelsOn, type AppParts, receiverOf, requireApp, toActor } from "../parts.ts";
import type { Registry } from "../registry/apps.ts";
import type { Secrets } from "../registry/keys.ts";
import { loadManifest } from "../registry/load-manifest.ts";
import {
  App,
  AppCatalogue,
  AppEdit,
  AppSecrets,
  ByDelivery,
  ById,
  Manifest,
  ManifestAddress,
  NewApp,
} from "../schema.ts";
import { appEvents, neededScope, scopes } from "../scopes.ts";

const access = "admin";

interface AdminParts extends AppParts {
  readonly registry: Registry;
  readonly secrets: Secrets;
}

/** Apps in the hands of administrators. */
export function adminRoutes(parts: AdminParts) {
  return [
    ...manifestRoutes(parts),
    ...registryRoutes(parts),
    ...secretRoutes(parts),
    ...deliveryRoutes(parts),
  ] as const;
}

function manifestRoutes(parts: AdminParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/apps/catalogue",
        summary: "List the scopes and events that a manifest can ask for",
        access,
        returns: AppCatalogue,
      },
      () => ({
        scopes: [...scopes],
        events: appEvents.map((event) => ({ event, scope: neededScope(event) })),
        channels_enabled: areChannelsOn(parts),
      }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/apps/manifest",
        summary: "Load the manifest of a program from its address; nothing is stored",
        access,
        body: ManifestAddress,
        returns: z.object({ manifest: Manifest, manifest_url: z.string() }),
        fails: [400],
      },
      ({ body, request }) => loadManifest(parts, body.url, request.signal),
    ),
  ] as const;
}

function registryRoutes({ registry }: AdminParts) {
  return [
    defineRoute(
      { method: "GET", path: "/apps/", summary: "List apps by name", access, returns: z.array(App) },
      () => registry.list(),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/apps/create",
        summary: "Register an app by its manifest; the answer alone shows its key and signing secret",
        access,
        body: NewApp,
        returns: AppSecrets,
        fails: [400, 413],
      },
      ({ caller, body }) => registry.create(caller, body.manifest, body.manifest_url ?? null),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/apps/id/:id",
        summary: "Read an app",
        access,
        params: ById,
        returns: App,
        fails: [404],
      },
      ({ params }) => registry.get(params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/apps/id/:id/update",
        summary: "Change an app, or switch it on and off; keys that are left out stay",
        access,
        params: ById,
        body: AppEdit,
        returns: App,
        fails: [400, 404, 413],
      },
      ({ params, body }) => registry.update(params.id, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/apps/id/:id/delete",
        summary: "Delete an app with its key and memberships; its messages stay",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [404],
      },
      ({ params }) => registry.remove(params.id),
    ),
  ] as const;
}

function secretRoutes({ secrets }: AdminParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/apps/id/:id/key",
        summary: "Make a new key; the old one ends at once, and the answer alone shows the new one",
        access,
        params: ById,
        returns: AppSecrets,
        fails: [404],
      },
      ({ params }) => secrets.rotateKey(params.id),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/apps/id/:id/key",
        summary: "Revoke the key of an app",
        access,
        params: ById,
        returns: App,
        fails: [404],
      },
      ({ params }) => secrets.revokeKey(params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/apps/id/:id/secret",
        summary: "Make a new signing secret; the answer alone shows it",
        access,
        params: ById,
        returns: AppSecrets,
        fails: [404],
      },
      ({ params }) => secrets.renewSecret(params.id),
    ),
  ] as const;
}

function deliveryRoutes(parts: AdminParts) {
  const { db, deliveries, deployment } = parts;
  return [
    defineRoute(
      {
        method: "POST",
        path: "/apps/id/:id/test",
        summary: "Post the event `app.test` to an app at once",
        access,
        params: ById,
        returns: DeliveryTestShape,
        fails: [404],
      },
      async ({ caller, params, request }) => {
        const row = await requireApp(db, params.id);
        const address = toAddress(parts, row);
        if (typeof address === "string" || deliveries === undefined) {
          return { success: false, status: null, error: String(address) };
        }
        const { email: _email, ...actor } = toActor(caller);
        const event = {
          id: randomUUID(),
          event: "app.test",
          created_at: seconds(),
          actor,
          subject: { type: "app", id: row.id },
          data: { app: { id: row.id, user_id: row.user_id, name: row.name } },
        };
        const outcome = await deliveries.post(address, toEnvelope(event, deployment), request.signal);
        return {
          success: outcome.kind === "delivered",
          status: outcome.status,
          error: outcome.kind === "refused" ? outcome.error : null,
        };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/apps/id/:id/deliveries",
        summary: "List the last 100 deliveries to an app, newest first",
        access,
        params: ById,
        returns: z.array(DeliveryShape),
        fails: [404],
      },
      async ({ params }) => {
        await requireApp(db, params.id);
        return (await deliveries?.list(receiverOf(params.id))) ?? [];
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/apps/id/:id/deliveries/:delivery_id/retry",
        summary: "Queue a failed delivery once more",
        access,
        params: ByDelivery,
        returns: z.literal(true),
        fails: [404],
      },
      async ({ params }) => {
        if (!(await deliveries?.retry(receiverOf(params.id), params.delivery_id))) {
          throw new AppError("not_found", "There is no failed delivery with this id.");
        }
        return true as const;
      },
    ),
  ] as const;
}
