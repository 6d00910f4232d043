import { z } from "zod";

const loose = z.looseObject({});

/**
 * A thing the folder lends. Keys besides these are dropped: an entry must not carry the address or the content of
 * something else than what was checked.
 */
const KnowledgeItem = z.object({
  type: z.string().min(1).max(50).default("file"),
  id: z.string().min(1).max(256),
  name: z.string().max(2000).nullish(),
  description: z.string().max(10_000).nullish(),
  size: z.number().nullish(),
  content_type: z.string().max(255).nullish(),
  status: z.string().max(50).nullish(),
  context: z.string().max(50).nullish(),
});

/** `data` of a folder; keys that nobody here knows are kept. */
const FolderData = z
  .looseObject({
    system_prompt: z.string().max(200_000).nullish(),
    files: z.array(KnowledgeItem).max(10_000).nullish(),
    model_ids: z.array(z.string().min(1).max(256)).max(1000).nullish(),
  })
  .meta({ id: "FolderData" });

const FolderMeta = z.looseObject({ icon: z.string().max(2000).nullish() }).meta({ id: "FolderMeta" });

const Name = z.string().trim().min(1).max(255);
const FolderId = z.string().min(1).max(200);

export const NewFolder = z
  .object({
    name: Name,
    data: FolderData.nullish(),
    meta: FolderMeta.nullish(),
    items: z.unknown().optional(),
    parent_id: FolderId.nullish(),
  })
  .meta({ id: "NewFolder" });

export const FolderChange = z
  .object({
    name: Name.optional(),
    data: FolderData.nullish(),
    meta: FolderMeta.nullish(),
    items: z.unknown().optional(),
  })
  .meta({ id: "FolderChange" });

export const ParentChange = z.object({ parent_id: FolderId.nullable() });

export const ById = z.object({ id: z.string().max(200) });

const Owner = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() }).nullable();

/** A folder as one's own list shows it. */
export const FolderItem = z
  .object({
    id: z.string(),
    name: z.string(),
    meta: loose,
    parent_id: z.string().nullable(),
    is_expanded: z.boolean(),
    unread_count: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "FolderItem" });

/** A folder with everything that the caller may see of it. */
export const Folder = FolderItem.extend({
  user_id: z.string(),
  items: z.unknown(),
  data: loose,
  write_access: z.boolean(),
  user: Owner,
  access_grants: z.array(z.looseObject({ id: z.number(), principal_id: z.string() })).optional(),
}).meta({ id: "Folder" });

/** A folder of somebody else. */
export const SharedFolder = FolderItem.omit({ is_expanded: true, unread_count: true })
  .extend({ user_id: z.string(), user: Owner, write_access: z.boolean() })
  .meta({ id: "SharedFolder" });

export const FolderChat = z
  .object({
    id: z.string(),
    title: z.string(),
    updated_at: z.number(),
    created_at: z.number(),
    last_read_at: z.number().nullable(),
    active: z.boolean(),
  })
  .meta({ id: "FolderChat" });
