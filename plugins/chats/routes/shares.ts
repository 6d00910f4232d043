import { GrantInputs } from "#kernel/access/grant-inputs.ts";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { answerAll, answerChat, readNext } from "../reading/answers.ts";
import { listTitles } from "../search/lists.ts";
import type { ChatParts } from "../parts.ts";
import { ById, Chat, ChatAnswer, ChatTitle, Ordered, ShareAccess, SharedChat } from "../schema.ts";
import type { ShareAccess as Accesses } from "../sharing/share-access.ts";
import type { ShareReading } from "../sharing/share-reading.ts";
import type { Shares } from "../sharing/shares.ts";
import { toTitles, toWish } from "./lists.ts";

/** What the routes of shares call. */
export interface ShareLogic {
  readonly shares: Shares;
  readonly reading: ShareReading;
  readonly access: Accesses;
}

/** Links to snapshots, and who may open them. */
export function shareRoutes({ db }: ChatParts, { shares, ...others }: ShareLogic) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/share",
        summary: "Share a chat as it is now; again, to replace what is behind the link",
        access: "permission:chat.share",
        params: ById,
        returns: ChatAnswer,
        fails: [403, 404],
      },
      async ({ caller, params, request }) => answerChat(db, await shares.share(caller, params.id), request),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/:id/share",
        summary: "Take a chat's link away",
        access: "user",
        params: ById,
        returns: z.literal(true),
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        await shares.unshare(caller, params.id);
        return true;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/share/all",
        summary: "Take the links of all of one's chats away",
        access: "user",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await shares.unshareAll(caller);
        return true;
      },
    ),
    ...readingRoutes(others),
  ];
}

function readingRoutes({ reading, access }: Omit<ShareLogic, "shares">) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/share/:id",
        summary: "Open a link; without sign-in where it is open to anyone",
        access: "public",
        params: ById,
        returns: SharedChat,
        fails: [404],
      },
      ({ caller, params }) => reading.open(caller, params.id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/shared/:id/access",
        summary: "Who may open the link of a chat",
        access: "user",
        params: ById,
        returns: ShareAccess,
        fails: [403, 404],
      },
      ({ caller, params }) => access.access(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/shared/:id/access/update",
        summary: "Say who may open the link of a chat; what the caller may not give is left out",
        access: "permission:chat.share",
        params: ById,
        body: z.object({ access_grants: GrantInputs }).meta({ id: "ChatShareChange" }),
        returns: ShareAccess,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => access.setAccess(caller, params.id, body.access_grants),
    ),
  ];
}

/** What administrators may read of everybody's chats (ENABLE_ADMIN_CHAT_ACCESS, ENABLE_ADMIN_EXPORT). */
export function adminRoutes({ db, accounts, adminsRead, adminsExport }: ChatParts) {
  const requireOn = (isOn: boolean) => {
    if (!isOn) {
      throw new AppError("forbidden", "This deployment does not let administrators read chats.");
    }
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/list/user/:id",
        summary: "List the chats of an account",
        access: "admin",
        params: ById,
        query: Ordered,
        returns: z.array(ChatTitle),
        fails: [404],
      },
      async ({ params, query }) => {
        requireOn(adminsRead());
        if (!(await accounts.summaries([params.id])).has(params.id)) {
          throw new AppError("not_found", "Not found");
        }
        return toTitles(await listTitles(db, params.id, toWish({}, query)));
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/all/db",
        summary: "Export every chat of the installation",
        access: "admin",
        returns: z.array(Chat),
      },
      () => {
        requireOn(adminsRead() && adminsExport());
        return answerAll(db, readNext(db, {}));
      },
    ),
  ];
}
