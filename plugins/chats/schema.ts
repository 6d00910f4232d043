import { z } from "zod";

const loose = z.looseObject({});

const TagName = z.union([z.string(), z.looseObject({ name: z.string() })], "must be the name of a tag");

/** A chat object as callers send it; messages are read by `readSentTree`, which names the one that is wrong. */
const fields = {
  title: z.string().max(10_000).optional(),
  models: z.array(z.string()).optional(),
  messages: z.array(z.unknown()).nullish(),
  history: loose.nullish(),
  currentId: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
  tags: z.array(TagName).nullish(),
  params: loose.nullish(),
  timestamp: z.number().nullish(),
};

/** Core API, Chat: title and models are required on creation. */
export const NewChatObject = z
  .looseObject({ ...fields, title: fields.title.unwrap(), models: fields.models.unwrap() })
  .meta({ id: "NewChatObject" });

export const ChatPatch = z.looseObject(fields).meta({ id: "ChatPatch" });

/** Imports leave out tags that name nothing. */
const ImportedChatObject = ChatPatch.extend({ tags: z.array(z.unknown()).nullish() });

/** What is common to new, partial and imported chat objects. */
export type SentChat = z.output<typeof ImportedChatObject>;

export const NewChat = z
  .object({
    chat: NewChatObject,
    folder_id: z.string().max(200).nullish(),
    variables: loose.nullish(),
  })
  .meta({ id: "NewChat" });

/** What changes of a chat; variables replace those that are there, null takes them away. */
export const ChatChange = z
  .object({ chat: ChatPatch, variables: loose.nullish() })
  .meta({ id: "ChatChange" });

const time = z.number().int().min(0).max(1e11);

/** One chat of an export, of this platform or another. */
export const ImportedChat = z.looseObject({
  chat: ImportedChatObject,
  title: fields.title.nullish(),
  meta: loose.nullish(),
  pinned: z.boolean().nullish(),
  archived: z.boolean().nullish(),
  folder_id: z.string().max(200).nullish(),
  variables: loose.nullish(),
  current_message_id: z.string().nullish(),
  created_at: time.nullish(),
  updated_at: time.nullish(),
});

export const ChatImport = z.object({ chats: z.array(ImportedChat).max(10_000) }).meta({ id: "ChatImport" });

/** A chat without what was said in it. */
export const ChatRecord = z
  .object({
    id: z.string(),
    user_id: z.string(),
    title: z.string(),
    updated_at: z.number(),
    created_at: z.number(),
    share_id: z.string().nullable(),
    archived: z.boolean(),
    pinned: z.boolean().nullable(),
    meta: loose,
    variables: loose,
    folder_id: z.string().nullable(),
    tasks: z.unknown(),
    summary: z.string().nullable(),
    last_read_at: z.number().nullable(),
    current_message_id: z.string().nullable(),
  })
  .meta({ id: "ChatRecord" });

/** A chat with everything (Core API, Chat and Message). */
export const Chat = ChatRecord.extend({
  chat: z.looseObject({
    title: z.string(),
    history: z.looseObject({ messages: z.record(z.string(), loose), currentId: z.string().nullable() }),
    messages: z.array(loose),
    files: z.array(z.unknown()),
  }),
  /** Where one chat is read: what its shown branch takes of what a model reads until it is compacted; null when it never is. */
  context_usage: z.object({ tokens: z.int(), threshold: z.int() }).nullish(),
}).meta({ id: "Chat" });

/** A chat, or with `Prefer: return=minimal` only its record. */
export const ChatAnswer = z.union([Chat, ChatRecord]);

export const ChatTitle = z
  .object({
    id: z.string(),
    title: z.string(),
    updated_at: z.number(),
    created_at: z.number(),
    last_read_at: z.number().nullable(),
    archived: z.boolean(),
    active: z.boolean(),
    /** Where chats were searched: a piece of a message that fits. */
    snippet: z.string().nullable(),
  })
  .meta({ id: "ChatTitle" });

const Grant = z.object({
  id: z.number(),
  resource_type: z.string(),
  resource_id: z.string(),
  principal_type: z.string(),
  principal_id: z.string(),
  permission: z.string(),
  created_at: z.number().nullable(),
});

export const SharedTitle = ChatTitle.extend({
  share_id: z.string(),
  /** When what is behind the link was taken. */
  shared_at: z.number(),
  access_grants: z.array(Grant),
}).meta({ id: "SharedTitle" });

export const Tag = z
  .object({ id: z.string(), name: z.string(), user_id: z.string(), meta: loose.nullable() })
  .meta({ id: "Tag" });

/** A shared chat as it was when it was shared; visitors without an account get no ids. */
export const SharedChat = z
  .object({
    id: z.string(),
    chat_id: z.string().optional(),
    user_id: z.string().optional(),
    title: z.string(),
    chat: loose,
    share_id: z.string(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "SharedChat" });

export const ShareAccess = z
  .object({
    chat_id: z.string(),
    share_id: z.string().nullable(),
    title: z.string(),
    updated_at: z.number(),
    /** When what is behind the link was taken; null without a link. */
    shared_at: z.number().nullable(),
    access_grants: z.array(Grant),
  })
  .meta({ id: "ChatShareAccess" });

/** One page of a branch, oldest first. */
export const MessagePage = z
  .object({
    messages: z.array(loose),
    /** Give it as `before` for the page before this one; null at the beginning. */
    before: z.string().nullable(),
    current_message_id: z.string().nullable(),
  })
  .meta({ id: "ChatMessagePage" });

export const ById = z.object({ id: z.string().max(200) });
export const ByMessage = ById.extend({ message_id: z.string().max(200) });

/** A page number; lists without one are whole. */
export const page = z.coerce.number().int().min(1).max(1_000_000);

export const Ordered = z.object({
  page: page.optional(),
  query: z.string().max(1000).optional(),
  order_by: z.enum(["updated_at", "created_at", "title"]).default("updated_at"),
  direction: z.enum(["asc", "desc"]).default("desc"),
});

/** A switch in a query. */
export function toggle(value: boolean) {
  const shape = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }).default(value);
  return shape.meta({ type: "boolean", default: value });
}
