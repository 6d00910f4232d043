import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import { answerAll, readNext } from "../reading/answers.ts";
import { foldersNamed, requireFolder, usesFolders } from "../folders/folders.ts";
import { listShared } from "../sharing/list-shared.ts";
import {
  countChats,
  type Filter,
  folderPageSize,
  listTitles,
  listTitlesAsJson,
  pageSize,
  type TitleRow,
  toPage,
} from "../search/lists.ts";
import type { ChatParts } from "../parts.ts";
import { ById, Chat, ChatTitle, Ordered, page, SharedTitle, toggle } from "../schema.ts";
import { searchChats } from "../search/search.ts";

/** Lists of one's own chats (contract §7.1); internal chats stand in none. */
export function listRoutes(parts: ChatParts) {
  return [...plainRoutes(parts), ...narrowedRoutes(parts), ...folderRoutes(parts), ...exportRoutes(parts)];
}

const ListQuery = z.object({
  page: page.optional(),
  include_pinned: toggle(false),
  include_folders: toggle(false),
  include_archived: toggle(false),
  sort_by: z.enum(["updated_at", "created_at", "title"]).default("updated_at"),
  sort_dir: z.enum(["asc", "desc"]).default("desc"),
});

function plainRoutes(parts: ChatParts) {
  const { db } = parts;
  const list = async (caller: Principal, query: z.output<typeof ListQuery>) => {
    const filter: Filter = {
      archived: query.include_archived ? undefined : false,
      pinned: query.include_pinned ? undefined : false,
      folder: query.include_folders || !usesFolders(parts, caller) ? undefined : null,
    };
    const order = { by: query.sort_by, direction: query.sort_dir };
    const list = await listTitlesAsJson(db, caller.userId, { filter, order, page: toPage(query.page) });
    return reply(list, { headers: { "content-type": "application/json; charset=utf-8" } });
  };
  const facts = { access: "user", query: ListQuery, returns: z.array(ChatTitle) } as const;
  return [
    defineRoute(
      { method: "GET", path: "/chats/", summary: "List chats; without a page all of them", ...facts },
      ({ caller, query }) => list(caller, query),
    ),
    defineRoute(
      { method: "GET", path: "/chats/list", summary: "The same as /chats/", ...facts },
      ({ caller, query }) => list(caller, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/search",
        summary:
          "Find chats by words of their titles and messages, and by tag: folder: pinned: archived: shared:",
        access: "user",
        query: z.object({ text: z.string().max(2000).default(""), page: page.default(1) }),
        returns: z.array(ChatTitle),
      },
      ({ caller, query }) =>
        searchChats(db, caller.userId, {
          text: query.text,
          page: { limit: pageSize, offset: (query.page - 1) * pageSize },
          foldersNamed: (text) => foldersNamed(parts, caller, text),
        }),
    ),
  ];
}

function narrowedRoutes(parts: ChatParts) {
  const { db } = parts;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/pinned",
        summary: "List pinned chats",
        access: "user",
        returns: z.array(ChatTitle),
      },
      async ({ caller }) =>
        toTitles(await listTitles(db, caller.userId, { filter: { pinned: true, archived: false } })),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/archived",
        summary: "List archived chats",
        access: "user",
        query: Ordered,
        returns: z.array(ChatTitle),
      },
      async ({ caller, query }) =>
        toTitles(await listTitles(db, caller.userId, toWish({ archived: true }, query))),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/archived/count",
        summary: "Count archived chats",
        access: "user",
        returns: z.object({ count: z.number() }),
      },
      async ({ caller }) => ({ count: await countChats(db, caller.userId, { archived: true }) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/shared",
        summary: "List one's chats that are shared",
        access: "user",
        query: Ordered,
        returns: z.array(SharedTitle),
      },
      ({ caller, query }) => listShared(parts, caller.userId, toWish({ shared: true }, query)),
    ),
  ];
}

function folderRoutes(parts: ChatParts) {
  const list = async (caller: Principal, id: string, wanted: number | undefined) => {
    const folder = await requireFolder(parts, caller, { id, action: "read" });
    const filter = { folder: id, archived: false };
    const page = toPage(wanted, folderPageSize);
    const rows = toTitles(await listTitles(parts.db, folder.user_id, { filter, page }));
    // When somebody last looked at a chat is nobody else's business.
    return folder.user_id === caller.userId ? rows : rows.map((row) => ({ ...row, last_read_at: null }));
  };
  const facts = { access: "user", params: ById, returns: z.array(ChatTitle), fails: [403, 404] } as const;
  return [
    defineRoute(
      { method: "GET", path: "/chats/folder/:id", summary: "List the chats of a folder", ...facts },
      ({ caller, params }) => list(caller, params.id, undefined),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/folder/:id/list",
        summary: "List the chats of a folder a page at a time",
        ...facts,
        query: z.object({ page: page.default(1) }),
      },
      ({ caller, params, query }) => list(caller, params.id, query.page),
    ),
  ];
}

function exportRoutes({ db }: ChatParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/all",
        summary: "Export one's chats with everything, archived ones apart",
        access: "permission:chat.export",
        returns: z.array(Chat),
      },
      ({ caller }) => answerAll(db, readNext(db, { userId: caller.userId, archived: false })),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/all/archived",
        summary: "Export one's archived chats with everything",
        access: "permission:chat.export",
        returns: z.array(Chat),
      },
      ({ caller }) => answerAll(db, readNext(db, { userId: caller.userId, archived: true })),
    ),
  ];
}

/** What a list of titles is asked for by an ordered query. */
export function toWish(filter: Filter, query: z.output<typeof Ordered>) {
  return {
    filter: { ...filter, title: query.query },
    order: { by: query.order_by, direction: query.direction },
    page: toPage(query.page),
  };
}

/** Titles without what only some lists show. */
export function toTitles(rows: readonly (TitleRow & { share_id: string | null })[]): TitleRow[] {
  return rows.map(({ share_id: _share, ...title }) => title);
}
