import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { listTitles, type TitleRow } from "../search/lists.ts";
import type { ChatParts } from "../parts.ts";
import { answerChat } from "../reading/answers.ts";
import { ById, ChatAnswer, ChatRecord, ChatTitle, Tag } from "../schema.ts";
import type { States } from "../states.ts";
import type { Tags } from "../tags/tags.ts";
import { toTagId, untagged } from "../tags/tag-names.ts";
import { toTitles } from "./lists.ts";

const change = { access: "user", params: ById, returns: ChatRecord, fails: [403, 404] } as const;

/** Where chats stand in lists: pinned, archived, read, in a folder. */
export function stateRoutes({ db }: ChatParts, states: States) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/pin",
        summary: "Pin or unpin a chat; without a body, the other way round",
        ...change,
        body: z.object({ pinned: z.boolean().optional() }),
        bodyOptional: true,
      },
      ({ caller, params, body }) => states.pin(caller, params.id, body?.pinned),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/archive",
        summary: "Archive a chat or bring it back; without a body, the other way round",
        ...change,
        body: z.object({ archived: z.boolean().optional() }),
        bodyOptional: true,
      },
      ({ caller, params, body }) => states.archive(caller, params.id, body?.archived),
    ),
    defineRoute(
      { method: "POST", path: "/chats/:id/read", summary: "Mark a chat as read", ...change },
      ({ caller, params }) => states.setRead(caller, params.id, true),
    ),
    defineRoute(
      { method: "POST", path: "/chats/:id/unread", summary: "Mark a chat as unread", ...change },
      ({ caller, params }) => states.setRead(caller, params.id, false),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/folder",
        summary: "Put a chat into a folder, or into none with null",
        ...change,
        body: z.object({ folder_id: z.string().min(1).max(200).nullable() }),
        returns: ChatAnswer,
      },
      async ({ caller, params, body, request }) =>
        answerChat(db, await states.setFolder(caller, params.id, body.folder_id), request),
    ),
    ...everyRoutes(states),
  ];
}

function everyRoutes(states: States) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/archive/all",
        summary: "Archive all of one's chats",
        access: "user",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await states.archiveAll(caller, true);
        return true;
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/unarchive/all",
        summary: "Bring all archived chats back",
        access: "user",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await states.archiveAll(caller, false);
        return true;
      },
    ),
  ];
}

const TagName = z.object({ name: z.string().trim().min(1).max(200) }).meta({ id: "TagName" });
const ofChat = { access: "user", params: ById, returns: z.array(Tag), fails: [400, 403, 404] } as const;

/** Tags of chats. */
export function tagRoutes({ db }: ChatParts, tags: Tags) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/all/tags",
        summary: "List one's tags",
        access: "user",
        returns: z.array(Tag),
      },
      ({ caller }) => tags.all(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/tags",
        summary: "List the chats with a tag; none stands for those without any",
        access: "user",
        body: TagName.extend({
          skip: z.int().min(0).max(1_000_000_000).default(0),
          limit: z.int().min(1).max(1000).default(50),
        }),
        returns: z.array(ChatTitle),
      },
      async ({ caller, body: { name, skip, limit } }): Promise<TitleRow[]> => {
        const id = toTagId(name);
        const filter = id === untagged ? { untagged: true } : { tags: [id] };
        return toTitles(await listTitles(db, caller.userId, { filter, page: { limit, offset: skip } }));
      },
    ),
    defineRoute(
      { method: "GET", path: "/chats/:id/tags", summary: "List a chat's tags", ...ofChat },
      ({ caller, params }) => tags.of(caller, params.id),
    ),
    defineRoute(
      { method: "POST", path: "/chats/:id/tags", summary: "Tag a chat", ...ofChat, body: TagName },
      ({ caller, params, body }) => tags.add(caller, params.id, body.name),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/:id/tags",
        summary: "Take a tag from a chat",
        ...ofChat,
        body: TagName,
      },
      ({ caller, params, body }) => tags.remove(caller, params.id, body.name),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/:id/tags/all",
        summary: "Take all tags from a chat",
        access: "user",
        params: ById,
        returns: z.literal(true),
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        await tags.clear(caller, params.id);
        return true;
      },
    ),
  ];
}
