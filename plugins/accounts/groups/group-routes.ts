import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Groups } from "./groups.ts";
import { GroupForm, GroupsQuery, GroupUpdate, IdParams, MemberIds } from "../users/user-schema.ts";

const GroupInfoShape = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  member_count: z.number().int(),
  created_at: z.number().int(),
  updated_at: z.number().int(),
});

const GroupShape = GroupInfoShape.extend({
  user_id: z.string().nullable(),
  data: z.unknown(),
  meta: z.unknown(),
  permissions: z.record(z.string(), z.record(z.string(), z.boolean())).nullable(),
});

/** `/api/v1/groups` (contract 1.5). */
export function groupRoutes({ groups }: { groups: Groups }) {
  return [...readRoutes(groups), ...writeRoutes(groups)];
}

function readRoutes(groups: Groups) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/groups",
        summary: "List groups",
        access: "user",
        query: GroupsQuery,
        returns: z.array(z.union([GroupShape, GroupInfoShape])),
      },
      ({ caller, query }) => groups.list(caller, query.share),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/groups/id/:id",
        summary: "Get a group",
        access: "admin",
        params: IdParams,
        returns: GroupShape,
        fails: [404],
      },
      ({ params }) => groups.require(params.id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/groups/id/:id/info",
        summary: "Get what members may know of a group",
        access: "user",
        params: IdParams,
        returns: GroupInfoShape,
        fails: [404],
      },
      ({ caller, params }) => groups.info(caller, params.id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/groups/id/:id/export",
        summary: "Export a group with the ids of its members",
        access: "admin",
        params: IdParams,
        returns: GroupShape.extend({ user_ids: z.array(z.string()) }),
        fails: [404],
      },
      ({ params }) => groups.export(params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/groups/id/:id/users",
        summary: "List the members of a group",
        access: "admin",
        params: IdParams,
        returns: z.array(z.looseObject({ id: z.string(), name: z.string() })),
        fails: [404],
      },
      ({ params }) => groups.members(params.id),
    ),
  ];
}

function writeRoutes(groups: Groups) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/groups/create",
        summary: "Create a group",
        access: "admin",
        body: GroupForm,
        returns: GroupShape,
        fails: [409],
      },
      ({ caller, body }) => groups.create(caller, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/groups/id/:id/update",
        summary: "Change a group",
        access: "admin",
        params: IdParams,
        body: GroupUpdate,
        returns: GroupShape,
        fails: [404, 409],
      },
      ({ caller, params, body }) => groups.update(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/groups/id/:id/users/add",
        summary: "Add accounts to a group",
        access: "admin",
        params: IdParams,
        body: MemberIds,
        returns: GroupShape,
        fails: [400, 404],
      },
      ({ caller, params, body }) => groups.addMembers(caller, params.id, body.user_ids),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/groups/id/:id/users/remove",
        summary: "Take accounts out of a group",
        access: "admin",
        params: IdParams,
        body: MemberIds,
        returns: GroupShape,
        fails: [404],
      },
      ({ caller, params, body }) => groups.removeMembers(caller, params.id, body.user_ids),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/groups/id/:id/delete",
        summary: "Delete a group",
        access: "admin",
        params: IdParams,
        returns: z.literal(true),
        fails: [404],
      },
      async ({ caller, params }) => {
        await groups.remove(caller, params.id);
        return true;
      },
    ),
  ];
}
