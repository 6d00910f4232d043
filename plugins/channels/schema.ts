import { z } from "zod";
import { GrantInputs } from "#kernel/access/grant-inputs.ts";

const Id = z.string().min(1).max(200);
const Ids = z.array(Id).max(1000);
const Bag = z.looseObject({});
/** Epoch nanoseconds. */
const Time = z.bigint();
const Page = z.coerce.number().int().min(1).max(1_000_000).default(1);

export const ById = z.object({ id: z.string().max(200) });
export const ByPerson = z.object({ user_id: z.string().max(200) });
export const ByMessage = ById.extend({ message_id: z.string().max(200) });
export const ByWebhook = ById.extend({ webhook_id: z.string().max(200) });
export const ByToken = z.object({ webhook_id: z.string().max(200), token: z.string().max(200) });

const Name = z.string().trim().toLowerCase().min(1).max(128);
const channelFields = {
  description: z.string().max(5000).nullish(),
  is_private: z.boolean().nullish(),
  data: Bag.nullish(),
  meta: Bag.nullish(),
  access_grants: GrantInputs.nullish(),
};

export const NewChannel = z
  .object({
    ...channelFields,
    /** May be empty for a direct channel. */
    name: z.string().trim().toLowerCase().max(128).default(""),
    type: z.enum(["group", "dm"]).nullish(),
    group_ids: Ids.nullish(),
    user_ids: Ids.nullish(),
  })
  .meta({ id: "NewChannel" });

export const ChannelChange = z
  .object({ ...channelFields, name: Name.optional() })
  .meta({ id: "ChannelChange" });

export const NewMembers = z.object({ user_ids: Ids.nullish(), group_ids: Ids.nullish() });
export const RemovedMembers = z.object({ user_ids: Ids });
export const MembersQuery = z.object({
  page: Page,
  query: z.string().max(200).optional(),
  order_by: z.enum(["name"]).optional(),
  direction: z.enum(["asc", "desc"]).default("asc"),
});

const Person = z.object({ id: z.string(), name: z.string() });

/** A channel in a list. */
export const ChannelItem = z
  .object({
    id: z.string(),
    user_id: z.string().nullable(),
    type: z.enum(["group", "dm"]).nullable(),
    name: z.string(),
    description: z.string().nullable(),
    is_private: z.boolean().nullable(),
    data: Bag.nullable(),
    meta: Bag.nullable(),
    created_at: Time,
    updated_at: Time,
    updated_by: z.string().nullable(),
    archived_at: Time.nullable(),
    archived_by: z.string().nullable(),
    deleted_at: Time.nullable(),
    deleted_by: z.string().nullable(),
    is_manager: z.boolean(),
    write_access: z.boolean(),
    unread_count: z.number(),
    last_read_at: Time.nullable(),
    last_message_at: Time.nullable(),
    /** The people of a direct channel. */
    users: z.array(Person).optional(),
  })
  .meta({ id: "ChannelItem" });

export const Channel = ChannelItem.extend({
  user_count: z.number(),
  access_grants: z.array(z.looseObject({ id: z.number(), principal_id: z.string() })).optional(),
}).meta({ id: "Channel" });

export const Members = z.object({
  users: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      profile_image_url: z.string(),
      /** Left out for people. */
      is_app: z.literal(true).optional(),
    }),
  ),
  total: z.number(),
});

const content = z.string().max(100_000);
const MessageData = z
  .looseObject({
    files: z
      .array(z.looseObject({ id: z.string().max(256).optional() }))
      .max(50)
      .nullish(),
    mentions: z.array(z.unknown()).max(200).nullish(),
  })
  .meta({ id: "ChannelMessageData" });

export const NewMessage = z
  .object({
    content,
    temp_id: z.string().max(200).nullish(),
    parent_id: Id.nullish(),
    reply_to_id: Id.nullish(),
    data: MessageData.nullish(),
    meta: Bag.nullish(),
  })
  .meta({ id: "NewChannelMessage" });

export const MessageChange = z
  .object({ content, data: MessageData.nullish(), meta: Bag.nullish() })
  .meta({ id: "ChannelMessageChange" });

export const PinChange = z.object({ is_pinned: z.boolean() });
export const ReactionName = z.object({ name: z.string().trim().min(1).max(64) });
export const WebhookPost = z.object({ content: content.min(1) });

const limit = z.coerce.number().int().min(1).max(100).default(50);
export const MessagesQuery = z
  .object({
    skip: z.coerce.number().int().min(0).max(10_000_000).default(0),
    limit,
    before: z.string().max(200).optional(),
    after: z.string().max(200).optional(),
  })
  .refine(({ before, after }) => before === undefined || after === undefined, {
    path: ["after"],
    error: "must not stand beside before",
  });
export const PinnedQuery = z.object({ page: Page });
export const SearchQuery = z.object({
  query: z.string().min(1).max(500),
  before: z.string().max(200).optional(),
});

const Author = z.object({ id: z.string().nullable(), name: z.string(), role: z.string().nullable() });

export const Message = z
  .object({
    id: z.string(),
    user_id: z.string().nullable(),
    channel_id: z.string(),
    reply_to_id: z.string().nullable(),
    parent_id: z.string().nullable(),
    is_pinned: z.boolean(),
    pinned_by: z.string().nullable(),
    pinned_at: Time.nullable(),
    content: z.string(),
    /** In lists only whether there is any. */
    data: z.union([Bag, z.boolean()]).nullable(),
    meta: Bag.nullable(),
    files: z.array(z.looseObject({ id: z.string() })),
    reactions: z.array(z.object({ name: z.string(), users: z.array(Person), count: z.number() })),
    reply_count: z.number(),
    latest_reply_at: Time.nullable(),
    reply_to_message: z.object({ id: z.string(), content: z.string(), user: Author }).nullable(),
    user: Author,
    created_at: Time,
    updated_at: Time,
    temp_id: z.string().nullable().optional(),
  })
  .meta({ id: "ChannelMessage" });

const webhookFields = { name: z.string().trim().min(1).max(100), profile_image_url: z.string().nullish() };
export const NewWebhook = z.object(webhookFields).meta({ id: "NewChannelWebhook" });
export const WebhookChange = z.object(webhookFields).partial().meta({ id: "ChannelWebhookChange" });

export const Webhook = z
  .object({
    id: z.string(),
    channel_id: z.string(),
    user_id: z.string().nullable(),
    name: z.string(),
    profile_image_url: z.string().nullable(),
    token: z.string(),
    last_used_at: z.number().nullable(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "ChannelWebhook" });
