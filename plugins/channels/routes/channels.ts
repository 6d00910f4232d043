import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { ChannelActions } from "../channels.ts";
import type { MemberActions } from "../members.ts";
import {
  ById,
  ByPerson,
  Channel,
  ChannelChange,
  ChannelItem,
  Members,
  MembersQuery,
  NewChannel,
  NewMembers,
  RemovedMembers,
} from "../schema.ts";

export const access = "permission:features.channels";

/** Channels and their members (contract §8). */
export function channelRoutes(channels: ChannelActions, members: MemberActions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/channels/",
        summary: "List the channels that the caller has not hidden, with how many messages are unread",
        access,
        returns: z.array(ChannelItem),
      },
      ({ caller }) => channels.list(caller, false),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/channels/list",
        summary: "List every channel that the caller may read, hidden ones included",
        access,
        returns: z.array(ChannelItem),
      },
      ({ caller }) => channels.list(caller, true),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/channels/users/:user_id",
        summary: "Open the direct channel with a person; it is made where there is none",
        access,
        changes: true,
        params: ByPerson,
        returns: Channel,
        fails: [404],
      },
      ({ caller, params }) => channels.direct(caller, params.user_id),
    ),
    ...changeRoutes(channels),
    ...memberRoutes(members),
  ] as const;
}

function changeRoutes(channels: ChannelActions) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/channels/create",
        summary: "Make a channel: for those with access (administrators), a group, or a direct one",
        access,
        body: NewChannel,
        returns: Channel,
        fails: [400, 403, 404],
        idempotent: true,
      },
      ({ caller, body }) => channels.create(caller, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/channels/:id",
        summary: "Read a channel",
        access,
        params: ById,
        returns: Channel,
        fails: [404],
      },
      ({ caller, params }) => channels.get(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/update",
        summary: "Change a channel (its creator and administrators); keys that are left out stay",
        access,
        params: ById,
        body: ChannelChange,
        returns: Channel,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => channels.update(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/channels/:id/delete",
        summary: "Delete a channel with everything in it (its creator and administrators)",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        await channels.remove(caller, params.id);
        return true;
      },
    ),
  ] as const;
}

function memberRoutes(members: MemberActions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/channels/:id/members",
        summary: "List the members by name, 30 at a time: ids, names and pictures",
        access,
        params: ById,
        query: MembersQuery,
        returns: Members,
        fails: [404],
      },
      ({ caller, params, query }) => members.list(caller, params.id, query),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/members/active",
        summary: "Show the channel in the caller's list, or hide it",
        access,
        params: ById,
        body: z.object({ is_active: z.boolean() }),
        returns: z.literal(true),
        fails: [404],
      },
      ({ caller, params, body }) => members.setActive(caller, params.id, body.is_active),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/update/members/add",
        summary: "Add people to a group; answers the ids of those who are new",
        access,
        params: ById,
        body: NewMembers,
        returns: z.array(z.string()),
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => members.add(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/update/members/remove",
        summary: "Remove people from a channel, or leave it; answers the ids of those who are gone",
        access,
        params: ById,
        body: RemovedMembers,
        returns: z.array(z.string()),
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => members.remove(caller, params.id, body.user_ids),
    ),
  ] as const;
}
