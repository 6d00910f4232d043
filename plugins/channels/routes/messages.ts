import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { MessageActions, Posting, ReactionActions } from "../messages/messages.ts";
import type { ReadingActions } from "../messages/reading.ts";
import {
  ById,
  ByMessage,
  Message,
  MessageChange,
  MessagesQuery,
  NewMessage,
  PinChange,
  PinnedQuery,
  ReactionName,
  SearchQuery,
} from "../schema.ts";
import { access } from "./channels.ts";

const one = { access, params: ByMessage } as const;

/** Lists of messages, and single ones (contract §8). */
export function readingRoutes(reading: ReadingActions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/channels/:id/messages",
        summary:
          "List messages of the top level, newest first; before and after are ids of messages to go on at",
        access,
        params: ById,
        query: MessagesQuery,
        returns: z.array(Message),
        fails: [404],
      },
      ({ caller, params, query }) => reading.messages(caller, params.id, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/channels/:id/messages/pinned",
        summary: "List pinned messages, 20 at a time",
        access,
        params: ById,
        query: PinnedQuery,
        returns: z.array(Message),
        fails: [404],
      },
      ({ caller, params, query }) => reading.pinned(caller, params.id, query.page),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/channels/:id/messages/search",
        summary: "Find messages by the beginnings of their words, newest first, 20 at a time",
        access,
        params: ById,
        query: SearchQuery,
        returns: z.array(Message),
        fails: [404],
      },
      ({ caller, params, query }) => reading.search(caller, params.id, query),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/channels/:id/messages/:message_id",
        summary: "Read a message",
        returns: Message,
        fails: [404],
      },
      ({ caller, params }) => reading.message(caller, params),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/channels/:id/messages/:message_id/data",
        summary: "Read what a message carries besides its words",
        returns: z.looseObject({}).nullable(),
        fails: [404],
      },
      ({ caller, params }) => reading.data(caller, params),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/channels/:id/messages/:message_id/thread",
        summary: "List the replies in the thread of a message, newest first",
        query: MessagesQuery,
        returns: z.array(Message),
        fails: [404],
      },
      ({ caller, params, query }) => reading.thread(caller, params, query),
    ),
  ] as const;
}

export interface MessageRouteParts {
  readonly posting: Posting;
  readonly messages: MessageActions;
  readonly reactions: ReactionActions;
}

/** Actions on messages (contract §8). */
export function messageRoutes({ posting, messages, reactions }: MessageRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/channels/:id/messages/post",
        summary: "Post a message, into a thread with parent_id; a model that it mentions answers",
        access,
        params: ById,
        body: NewMessage,
        returns: Message,
        fails: [400, 403, 404],
        idempotent: true,
      },
      ({ caller, params, body }) => posting.post(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/channels/:id/messages/:message_id/update",
        summary: "Change the words of one's own message",
        body: MessageChange,
        returns: Message,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => messages.update(caller, params, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/channels/:id/messages/:message_id/pin",
        summary: "Pin a message, or take the pin away (its author, and managers of the channel)",
        body: PinChange,
        returns: Message,
        fails: [403, 404],
      },
      ({ caller, params, body }) => messages.pin(caller, params, body.is_pinned),
    ),
    ...(["add", "remove"] as const).map((what) =>
      defineRoute(
        {
          ...one,
          method: "POST",
          path: `/channels/:id/messages/:message_id/reactions/${what}`,
          summary: what === "add" ? "React to a message" : "Take a reaction back",
          body: ReactionName,
          returns: z.literal(true),
          fails: [400, 403, 404],
        },
        ({ caller, params, body }) =>
          reactions.react(caller, params, { name: body.name, isAdded: what === "add" }),
      ),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/channels/:id/messages/:message_id/delete",
        summary: "Delete a message with its thread (its author, and managers of the channel)",
        returns: z.literal(true),
        fails: [403, 404],
      },
      ({ caller, params }) => messages.remove(caller, params),
    ),
  ] as const;
}

export interface ReplyRouteParts {
  stop(caller: Principal, place: { id: string; message_id: string }): Promise<true>;
  retry(caller: Principal, place: { id: string; message_id: string }): Promise<true>;
}

/** What people do about the replies of models. */
export function replyRoutes({ stop, retry }: ReplyRouteParts) {
  return [
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/channels/:id/messages/:message_id/stop",
        summary: "Stop a model that writes a reply (who asked it, and managers of the channel)",
        returns: z.literal(true),
        fails: [403, 404],
      },
      ({ caller, params }) => stop(caller, params),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/channels/:id/messages/:message_id/retry",
        summary: "Have a model answer again in the place of its failed reply (who asked it)",
        returns: z.literal(true),
        fails: [400, 403, 404],
      },
      ({ caller, params }) => retry(caller, params),
    ),
  ] as const;
}
