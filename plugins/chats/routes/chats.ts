import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { answerChat, answerWhole, toRecord, toShown } from "../reading/answers.ts";
import type { ChatActions } from "../chats.ts";
import { readUsage } from "../context.ts";
import type { Copies } from "../copies.ts";
import type { ChatParts } from "../parts.ts";
import { ById, Chat, ChatAnswer, ChatChange, ChatImport, ChatRecord, NewChat } from "../schema.ts";
import type { Removal } from "../removal.ts";
import type { ShareReading } from "../sharing/share-reading.ts";

interface Parts {
  readonly parts: ChatParts;
  readonly actions: ChatActions;
  readonly copies: Copies;
  readonly reading: ShareReading;
  readonly removal: Removal;
}

/** Chats as a whole (Core API, Chats). */
export function chatRoutes(all: Parts) {
  return [...creatingRoutes(all), ...wholeRoutes(all), ...copyRoutes(all)];
}

function creatingRoutes({ parts, actions }: Parts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/new",
        summary: "Create a chat",
        access: "user",
        body: NewChat,
        returns: Chat,
        fails: [400, 404, 409],
        idempotent: true,
      },
      async ({ caller, body: { chat, folder_id, variables } }) => {
        const facts = { folder_id: folder_id || null, variables: variables ?? {} };
        return await answerWhole(parts.db, await actions.create(caller, chat, facts));
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/import",
        summary: "Store exported chats as new ones; all or none. Answers their records",
        access: "permission:chat.import",
        body: ChatImport,
        returns: z.array(ChatRecord),
        fails: [400, 409, 429],
        idempotent: true,
      },
      async ({ caller, body, request }) => {
        const bytes = Number(request.headers["content-length"] ?? JSON.stringify(body).length);
        const rows = await actions.import(caller, body.chats.map(toImported), bytes);
        return rows.map(toRecord);
      },
    ),
  ];
}

function toImported(one: z.output<typeof ChatImport>["chats"][number]) {
  const { internal: _internal, task_id: _task, ...meta } = one.meta ?? {};
  const title = one.chat.title ?? one.title;
  return {
    chat: { ...one.chat, ...(title ? { title } : {}) },
    facts: {
      meta,
      pinned: one.pinned ?? false,
      archived: one.archived ?? false,
      folder_id: one.folder_id || null,
      variables: one.variables ?? {},
      ...(one.current_message_id ? { current_message_id: one.current_message_id } : {}),
      ...(one.created_at ? { created_at: one.created_at } : {}),
      ...(one.updated_at ? { updated_at: one.updated_at } : {}),
    },
  };
}

function wholeRoutes({ parts, actions, reading, removal }: Parts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/:id",
        summary: "Read a chat; who was given it to read gets what was shared",
        access: "user",
        params: ById,
        returns: Chat,
        fails: [404],
      },
      async ({ caller, params, request }) => {
        const row = await parts.chats.find(caller, params.id, "read");
        return row === undefined
          ? reading.openAsChat(caller, params.id)
          : answerChat(parts.db, toShown(caller, row), request, () => readUsage(parts, caller, row));
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id",
        summary:
          "Merge a partial chat; messages that are not sent stay. Prefer: return=minimal answers the record",
        access: "user",
        params: ById,
        body: ChatChange,
        returns: ChatAnswer,
        fails: [400, 403, 404, 409],
      },
      async ({ caller, params, body, request }) =>
        answerChat(parts.db, await actions.change(caller, params.id, body), request),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/:id",
        summary: "Delete a chat",
        access: "permission:chat.delete",
        params: ById,
        returns: z.literal(true),
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        await removal.remove(caller, params.id);
        return true;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/",
        summary: "Delete all of one's chats",
        access: "permission:chat.delete",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await removal.removeAll(caller);
        return true;
      },
    ),
  ];
}

function copyRoutes({ parts, copies }: Parts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/clone",
        summary: "Copy a chat",
        access: "user",
        params: ById,
        body: z.object({ title: z.string().max(10_000).nullish() }),
        bodyOptional: true,
        returns: Chat,
        fails: [403, 404, 409, 429],
        idempotent: true,
      },
      async ({ caller, params, body }) =>
        answerWhole(parts.db, await copies.clone(caller, params.id, body?.title ?? undefined)),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/fork",
        summary: "Make a chat of the branch that ends with a message",
        access: "user",
        params: ById,
        body: z.object({ message_id: z.string().max(200).nullish() }),
        bodyOptional: true,
        returns: Chat,
        fails: [403, 404, 409, 429],
        idempotent: true,
      },
      async ({ caller, params, body }) =>
        answerWhole(parts.db, await copies.fork(caller, params.id, body?.message_id ?? undefined)),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/clone/shared",
        summary: "Make a chat of one's own from a shared one, by the share's id",
        access: "user",
        params: ById,
        returns: Chat,
        fails: [404, 429],
        idempotent: true,
      },
      async ({ caller, params }) => answerWhole(parts.db, await copies.cloneShared(caller, params.id)),
    ),
  ];
}
