import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Slot } from "#kernel/service.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { listGroups } from "../groups/groups-store.ts";
import { findAccountFacts, toPrincipal } from "../sessions/principals.ts";
import type { AccessPreview } from "../service.ts";
import { IdParams } from "../users/user-schema.ts";

const Items = z.array(z.object({ id: z.string(), name: z.string() }));
const Preview = z.object({ models: Items, knowledge: Items, tools: Items });
type Preview = z.output<typeof Preview>;

export interface PreviewParts extends Pick<AccountsDeps, "db" | "permissions"> {
  readonly previews: Slot<AccessPreview>;
}

/** What an account, or the members of a group, can read: `/users/{id}/preview`, `/groups/id/{id}/preview` (contract 1.3, 1.5). */
export function previewRoutes(parts: PreviewParts) {
  const facts = { method: "GET", access: "admin", params: IdParams, returns: Preview, fails: [404] } as const;
  return [
    defineRoute(
      { ...facts, path: "/users/:id/preview", summary: "List what an account can read" },
      async ({ params }) => gather(parts, await toAccount(parts, params.id)),
    ),
    defineRoute(
      { ...facts, path: "/groups/id/:id/preview", summary: "List what the members of a group can read" },
      async ({ params }) => gather(parts, await toMember(parts, params.id)),
    ),
  ];
}

async function gather({ previews }: PreviewParts, principal: Principal): Promise<Preview> {
  const found: Preview = { models: [], knowledge: [], tools: [] };
  for (const preview of previews.list()) {
    found[preview.kind].push(...(await preview.list(principal)));
  }
  return found;
}

async function toAccount({ db, permissions }: PreviewParts, id: string): Promise<Principal> {
  return toPrincipal(requireRow(await findAccountFacts(db, id)), permissions, shown);
}

/** Somebody who is in this group and no other, and owns nothing. */
async function toMember({ db, permissions }: PreviewParts, id: string): Promise<Principal> {
  const group = requireRow((await listGroups(db, { all: true }, id))[0]);
  const nobody = { id: `member of ${group.id}`, name: "", email: "", active: true, stamp: "" };
  const groups = [{ id: group.id, permissions: group.permissions as Principal["permissions"] | null }];
  return toPrincipal({ ...nobody, role: "user", groups }, permissions, shown);
}

const shown = { credential: "session", session: null } as const;
