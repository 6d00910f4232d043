import { createHash } from "node:crypto";
import { z } from "zod";
import type { PermissionTree } from "#kernel/access/permissions.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { AccountShape, accountRoutes, InfoShape } from "./account-routes.ts";
import type { DefaultPermissions } from "../permissions/default-permissions.ts";
import type { Groups } from "../groups/groups.ts";
import { ownRoutes } from "../settings/own-routes.ts";
import { PartialTree } from "../permissions/permission-tree.ts";
import type { ProfileImageRules } from "./profile-image.ts";
import type { UserSettings } from "../settings/settings.ts";
import type { UserStatus } from "../settings/status.ts";
import { AdminListQuery, ListQuery } from "./user-schema.ts";
import type { AccountsDeps } from "../deps.ts";
import { inviteUsers } from "./invite-users.ts";
import { importRoutes } from "./import-routes.ts";
import type { UserImportParts } from "./user-imports.ts";
import type { Users } from "./users.ts";

export interface UserRouteParts
  extends UserImportParts, Pick<AccountsDeps, "config" | "record" | "transaction"> {
  readonly users: Users;
  readonly groups: Groups;
  readonly settings: UserSettings;
  readonly status: UserStatus;
  readonly defaults: DefaultPermissions;
  readonly images: ProfileImageRules;
}

const Page = z.object({ users: z.array(AccountShape), total: z.number().int() });
const Invited = z.object({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  path: z.string().describe("Below the address of this server"),
  expires_at: z.number(),
});
const Tree = z.record(z.string(), z.record(z.string(), z.boolean()));

/** `/api/v1/users` (contract 1.3). The fixed paths stand before those that begin with an id. */
export function userRoutes(parts: UserRouteParts) {
  return [
    ...listRoutes(parts),
    ...importRoutes(parts),
    inviteRoute(parts),
    ...permissionRoutes(parts.defaults),
    gravatarRoute,
    ...ownRoutes(parts),
    ...accountRoutes(parts),
  ];
}

function inviteRoute(parts: Pick<UserRouteParts, "config" | "record" | "transaction">) {
  return defineRoute(
    {
      method: "POST",
      path: "/users/invitations",
      summary: "Make links by which people choose their password; each is good once, for seven days",
      access: "admin",
      body: z.object({ user_ids: z.array(z.string().min(1).max(200)).min(1).max(5000) }),
      returns: z.object({ invitations: z.array(Invited) }),
      fails: [403, 404],
    },
    async ({ caller, body }) => {
      const invited = await inviteUsers(parts, caller, body.user_ids);
      // The token stands behind "#": browsers send that part to no server, and no proxy logs it.
      const invitations = invited.map(({ token, ...more }) => ({
        ...more,
        path: `/auth#invitation=${token}`,
      }));
      return { invitations };
    },
  );
}

function listRoutes({ users }: UserRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users",
        summary: "List accounts, 30 a page",
        access: "admin",
        query: AdminListQuery,
        returns: Page,
      },
      ({ query }) => users.list(query),
    ),
    defineRoute(
      { method: "GET", path: "/users/all", summary: "List every account", access: "admin", returns: Page },
      () => users.all(),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/search",
        summary: "Find people, 30 a page",
        access: "user",
        query: ListQuery,
        returns: z.object({ users: z.array(InfoShape), total: z.number().int() }),
      },
      ({ query }) => users.search(query),
    ),
  ];
}

const gravatarRoute = defineRoute(
  {
    method: "GET",
    path: "/utils/gravatar",
    summary: "Get the address of a picture that belongs to an e-mail address; nothing is asked outside",
    access: "user",
    query: z.object({ email: z.string().trim().min(1).max(320) }),
    returns: z.string(),
  },
  ({ query: { email } }) => {
    const hash = createHash("sha256").update(email.toLowerCase()).digest("hex");
    return `https://www.gravatar.com/avatar/${hash}?d=mp`;
  },
);

function permissionRoutes(defaults: DefaultPermissions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/default/permissions",
        summary: "Read the default permissions",
        access: "admin",
        returns: Tree,
      },
      (): PermissionTree => defaults.current(),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/default/permissions/defaults",
        summary: "Read the built-in permissions",
        access: "admin",
        returns: Tree,
      },
      (): PermissionTree => defaults.builtIn(),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/users/default/permissions",
        summary: "Set the default permissions; what is left out is as built in",
        access: "admin",
        body: PartialTree,
        returns: Tree,
      },
      ({ caller, body }) => defaults.store(body, caller.userId),
    ),
  ];
}
