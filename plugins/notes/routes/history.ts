import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { History } from "../library/history.ts";
import type { NoteChats } from "../library/note-chats.ts";
import {
  DiffQuery,
  IdParams,
  NoteChat,
  NoteRecord,
  VersionDiff,
  VersionItem,
  VersionParams,
  VersionRecord,
} from "../schema.ts";

const common = { access: "permission:features.notes", params: IdParams, fails: [403, 404] } as const;

/** Earlier texts of notes. */
export function historyRoutes(history: History) {
  return [
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/notes/:id/history",
        summary: "List the earlier texts of a note, newest first",
        returns: z.array(VersionItem),
      },
      ({ caller, params }) => history.list(caller, params.id),
    ),
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/notes/:id/history/diff",
        summary: "Compare an earlier text with another one, or with the note as it is",
        query: DiffQuery,
        returns: VersionDiff,
      },
      ({ caller, params, query }) =>
        history.diff(caller, params.id, { from: query.from_id, to: query.to_id }),
    ),
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/notes/:id/history/:version_id",
        summary: "Read an earlier text of a note",
        params: VersionParams,
        returns: VersionRecord,
      },
      ({ caller, params }) => history.get(caller, params.id, params.version_id),
    ),
    defineRoute(
      {
        ...common,
        method: "POST",
        path: "/notes/:id/history/:version_id/restore",
        summary: "Make an earlier text the text of the note again",
        params: VersionParams,
        returns: NoteRecord,
      },
      ({ caller, params }) => history.restore(caller, params.id, params.version_id),
    ),
  ];
}

/** Chats about notes (contract §8). */
export function noteChatRoutes(chats: NoteChats) {
  return [
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/notes/:id/chat",
        summary: "Read which chat about a note the caller began last; null without one",
        returns: NoteChat.nullable(),
      },
      ({ caller, params }) => chats.latest(caller, params.id),
    ),
    defineRoute(
      {
        ...common,
        method: "POST",
        path: "/notes/:id/chat",
        summary: "Begin a chat about a note",
        returns: NoteChat,
      },
      ({ caller, params }) => chats.begin(caller, params.id),
    ),
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/notes/:id/chats",
        summary: "List the caller's chats about a note, newest first",
        returns: z.array(NoteChat),
      },
      ({ caller, params }) => chats.list(caller, params.id),
    ),
  ];
}
