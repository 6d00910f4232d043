import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Groups } from "../groups/groups.ts";
import { type ProfileImageRules, toProfileImageReply } from "./profile-image.ts";
import { isActive, toUserInfo, toUserRecord } from "./user-records.ts";
import { IdParams, UserUpdate } from "./user-schema.ts";
import type { Users } from "./users.ts";

export interface AccountRouteParts {
  readonly users: Users;
  readonly groups: Groups;
  readonly images: ProfileImageRules;
}

const Status = {
  status_emoji: z.string().nullable(),
  status_message: z.string().nullable(),
  status_expires_at: z.number().int().nullable(),
};
/** An account as members see it. */
export const InfoShape = z.looseObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.string(),
  profile_image_url: z.string(),
  is_active: z.boolean(),
  ...Status,
});
/** The same to one caller: addresses of others are for administrators. */
const SeenInfo = InfoShape.extend({ email: z.string().nullable() });
/** An account as admins see it. */
export const AccountShape = InfoShape.extend({ created_at: z.number().int(), updated_at: z.number().int() });
/** The routes of one account, below `/api/v1/users/{id}` (contract 1.3). */
export function accountRoutes(parts: AccountRouteParts) {
  return [...memberRoutes(parts), ...adminRoutes(parts)];
}

function memberRoutes({ users, groups, images }: AccountRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/:id/info",
        summary: "Get what members may know of an account",
        access: "user",
        params: IdParams,
        returns: SeenInfo,
        fails: [404],
      },
      async ({ caller, params }) => {
        const info = toUserInfo(await users.require(params.id));
        const seen = await groups.ofUserSeenBy(caller, params.id);
        const seesAddress = caller.role === "admin" || caller.userId === params.id;
        return {
          ...info,
          email: seesAddress ? info.email : null,
          groups: seen.map(({ id, name }) => ({ id, name })),
        };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/:id/profile/image",
        summary: "Get the picture of an account",
        access: "user",
        params: IdParams,
        produces: "image/*",
        fails: [302, 304, 404],
      },
      async ({ params, request }) => {
        const picture = await users.picture(params.id);
        const { "if-none-match": known, "sec-fetch-dest": fetchDest } = request.headers;
        return toProfileImageReply(picture, images, {
          known,
          fetchDest: fetchDest?.toString(),
        });
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/:id/active",
        summary: "Tell whether somebody was there within the last three minutes",
        access: "user",
        params: IdParams,
        returns: z.object({ active: z.boolean() }),
        fails: [404],
      },
      async ({ params }) => ({ active: isActive(await users.require(params.id)) }),
    ),
  ];
}

function adminRoutes({ users, groups }: AccountRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/:id",
        summary: "Get an account",
        access: "admin",
        params: IdParams,
        returns: AccountShape,
        fails: [404],
      },
      async ({ params }) => toUserRecord(await users.require(params.id)),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/:id/groups",
        summary: "List the groups of an account",
        access: "admin",
        params: IdParams,
        returns: z.array(z.looseObject({ id: z.string(), name: z.string() })),
        fails: [404],
      },
      async ({ params }) => {
        await users.require(params.id);
        return await groups.ofUser(params.id);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/users/:id/update",
        summary: "Change an account",
        access: "admin",
        params: IdParams,
        body: UserUpdate,
        returns: AccountShape,
        fails: [400, 404, 409, 413],
      },
      ({ caller, params, body }) => users.update(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/users/:id",
        summary: "Delete an account with all it owns",
        access: "admin",
        params: IdParams,
        returns: z.literal(true),
        fails: [404],
      },
      async ({ caller, params }) => {
        await users.remove(caller, params.id);
        return true;
      },
    ),
  ];
}
