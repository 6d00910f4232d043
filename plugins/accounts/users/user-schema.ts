import { z } from "zod";
import { Email } from "../sign-in/auth-schema.ts";
import { PartialTree } from "../permissions/permission-tree.ts";

/** Roles an account can have. */
export const RoleName = z.enum(["admin", "user", "pending"]);

/** `GET /users/`: filter, order and page. */
export const ListQuery = z.object({
  query: z.string().max(500).optional(),
  order_by: z
    .enum(["name", "email", "username", "role", "created_at", "updated_at", "last_active_at"])
    .optional(),
  direction: z.enum(["asc", "desc"]).optional(),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
});

/** Filters for administrators alone. */
export const AdminListQuery = ListQuery.extend({
  group_id: z.string().min(1).max(200).optional().describe("Members of this group alone"),
});
export type ListQuery = z.output<typeof AdminListQuery>;

/** An admin's change of an account; an empty password keeps the present one. */
export const UserUpdate = z.object({
  role: RoleName.optional(),
  name: z.string().trim().min(1).max(200).optional(),
  email: Email.optional(),
  profile_image_url: z.string().optional(),
  password: z.string().max(1000).nullish(),
});
export type UserUpdate = z.output<typeof UserUpdate>;

/** `POST /users/user/settings/update`: every `ui` field sent is applied, null clears it. */
export const SettingsUpdate = z.object({ ui: z.record(z.string().max(200), z.unknown()) });

export const StatusUpdate = z.object({
  status_emoji: z.string().max(64).nullish(),
  status_message: z.string().max(500).nullish(),
  status_expires_at: z.number().int().nonnegative().nullish(),
});
export type StatusUpdate = z.output<typeof StatusUpdate>;

export const VariablesUpdate = z.object({ variables: z.record(z.string(), z.string()) });

export const InfoUpdate = z.record(z.string().max(200), z.unknown());

export const IdParams = z.object({ id: z.string().min(1).max(200) });

const ShareRule = z.union([z.boolean(), z.literal("members")]);
export type ShareRule = z.output<typeof ShareRule>;

/** `data` of a group: who may share with it; further keys are not stored. */
const GroupData = z.object({ config: z.object({ share: ShareRule.optional() }).optional() });

const GroupName = z.string().trim().min(1).max(200);

export const GroupForm = z.object({
  name: GroupName,
  description: z.string().max(5000).default(""),
  permissions: PartialTree.nullish(),
  data: GroupData.nullish(),
});
export type GroupForm = z.output<typeof GroupForm>;

/** A patch: what is left out keeps its value. */
export const GroupUpdate = z.object({
  name: GroupName.optional(),
  description: z.string().max(5000).optional(),
  permissions: PartialTree.nullish(),
  data: GroupData.nullish(),
});
export type GroupUpdate = z.output<typeof GroupUpdate>;

export const MemberIds = z.object({ user_ids: z.array(z.string().min(1).max(200)).max(20_000) });

export const GroupsQuery = z.object({ share: z.stringbool().optional() });
