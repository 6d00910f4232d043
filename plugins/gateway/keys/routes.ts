import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Keys } from "./keys.ts";

const Key = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string().describe("Whole in the answer that creates it, masked ever after"),
  created_at: z.number().int(),
  last_used_at: z.number().int().nullable(),
});

/** Keys are managed in a browser session only (document 2, Authentication 2). */
export function keyRoutes(keys: Keys, audit: Audit | undefined) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/gateway/keys",
        summary: "List your keys of the workspace gateway",
        access: "admin",
        returns: z.array(Key),
      },
      ({ caller }) => {
        requireSession(caller);
        return keys.list(caller);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/gateway/keys",
        summary: "Create a key of the workspace gateway; it is shown once",
        access: "admin",
        body: z.object({ name: z.string().trim().min(1).max(100) }),
        returns: Key,
      },
      async ({ caller, body }) => {
        requireSession(caller);
        const key = await keys.create(caller, body.name);
        await audit?.record({ action: "gateway.key.created", object: toObject(key) });
        return key;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/gateway/keys/:id",
        summary: "Revoke a key of the workspace gateway",
        access: "admin",
        params: z.object({ id: z.string() }),
        returns: z.boolean(),
        fails: [404],
      },
      async ({ caller, params }) => {
        requireSession(caller);
        const key = await keys.remove(caller, params.id);
        await audit?.record({ action: "gateway.key.deleted", object: toObject(key) });
        return true;
      },
    ),
  ] as const;
}

function requireSession({ credential }: Principal): void {
  if (credential !== "session") {
    throw new AppError("forbidden", "Gateway keys are managed in a browser session only, not with a key.");
  }
}

function toObject({ id, name }: { id: string; name: string }) {
  return { type: "gateway_key", id, name };
}
