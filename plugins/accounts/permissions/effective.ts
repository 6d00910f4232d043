import { z } from "zod";
import { isAllowed } from "#kernel/access/permissions.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { findGroupNames } from "../groups/groups-store.ts";
import { findAccountFacts } from "../sessions/principals.ts";
import { IdParams, RoleName } from "../users/user-schema.ts";

const Effective = z.object({
  role: RoleName.describe("Administrators may do everything, pending accounts nothing"),
  permissions: z.array(
    z.object({
      path: z.string(),
      allowed: z.boolean(),
      default: z.boolean().describe("Allowed by the default permissions"),
      groups: z.array(z.object({ id: z.string(), name: z.string() })).describe("Groups that allow it"),
    }),
  ),
});
type Effective = z.output<typeof Effective>;

/** `GET /users/{id}/permissions`: what an account may do, and why. */
export function effectiveRoute({ db, permissions }: Pick<AccountsDeps, "db" | "permissions">) {
  return defineRoute(
    {
      method: "GET",
      path: "/users/:id/permissions",
      summary: "List what an account may do, each with the default or the groups that allow it",
      access: "admin",
      params: IdParams,
      returns: Effective,
      fails: [404],
    },
    async ({ params }): Promise<Effective> => {
      const facts = requireRow(await findAccountFacts(db, params.id));
      const names = await findGroupNames(
        db,
        facts.groups.map(({ id }) => id),
      );
      const defaults = permissions.current();
      const trees = [defaults, ...facts.groups.map((group) => group.permissions ?? {})];
      const entries = trees.flatMap((tree) => Object.entries(tree));
      const paths = entries.flatMap(([section, keys]) =>
        Object.keys(keys ?? {}).map((key) => `${section}.${key}`),
      );
      return {
        role: facts.role,
        permissions: [...new Set(paths)].map((path) => {
          const byDefault = isAllowed(defaults, path);
          const groups = facts.groups
            .filter((group) => isAllowed(group.permissions ?? {}, path))
            .map(({ id }) => ({ id, name: names.get(id) ?? id }));
          const isGiven = byDefault || groups.length > 0;
          const allowed = facts.role === "admin" || (facts.role === "user" && isGiven);
          return { path, allowed, default: byDefault, groups };
        }),
      };
    },
  );
}
