import { z } from "zod";

const Bag = z.record(z.string(), z.unknown());
const Grant = z.object({
  principal_type: z.enum(["user", "group", "anyone"]),
  principal_id: z.string().max(256),
  permission: z.enum(["read", "write"]),
});
const Grants = z.array(Grant).max(1_000);
const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });

/** Characters of one prompt. */
const maxContent = 200_000;

/** A leading slash is taken off: exports of other programs have one. */
const Command = z
  .string()
  .trim()
  .transform((text) => text.replace(/^\//, ""))
  .pipe(
    z
      .string()
      .min(1)
      .max(50)
      .regex(/^[\p{L}\p{N}_.-]+$/u, "Takes letters, digits, hyphen, dot and underscore, and no spaces."),
  );
const Name = z.string().trim().min(1).max(200);
const Tags = z
  .array(z.string().trim().min(1).max(50))
  .max(30)
  .transform((tags) => [...new Map(tags.map((tag) => [tag.toLowerCase(), tag])).values()]);
const Message = z.string().trim().max(1_000).nullish();

const fields = {
  id: z.string(),
  command: z.string(),
  user_id: z.string(),
  name: z.string(),
  content: z.string(),
  data: Bag,
  meta: Bag,
  tags: z.array(z.string()),
  is_active: z.boolean(),
  version_id: z.string().nullable(),
  access_grants: z.array(z.looseObject(Grant.shape)),
  write_access: z.boolean(),
  created_at: z.int(),
  updated_at: z.int(),
};

export const PromptRecord = z.object(fields).meta({ id: "Prompt" });
export const PromptItem = z.object({ ...fields, user: Person.nullable() }).meta({ id: "PromptItem" });
export const PromptPage = z.object({ items: z.array(PromptItem), total: z.int() });

const written = {
  command: Command,
  name: Name,
  content: z.string().min(1).max(maxContent),
  data: Bag.nullish(),
  meta: Bag.nullish(),
  tags: Tags.nullish(),
  commit_message: Message,
  /** False keeps the text as a draft version that is not in use. */
  is_production: z.boolean().default(true),
};

export const PromptForm = z
  .object({ ...written, access_grants: Grants.nullish() })
  .meta({ id: "PromptForm" });
export type PromptForm = z.output<typeof PromptForm>;

/** What is left out stays as it is. */
export const PromptUpdate = z
  .object({
    ...written,
    command: Command.optional(),
    name: Name.optional(),
    content: written.content.optional(),
    access_grants: Grants.nullish(),
    /** The version that was changed: 409 when another one came into use meanwhile. */
    version_id: z.string().max(100).nullish(),
  })
  .meta({ id: "PromptUpdate" });
export type PromptUpdate = z.output<typeof PromptUpdate>;

export const MetaForm = z.object({ name: Name, command: Command, tags: Tags.nullish() });
export type MetaForm = z.output<typeof MetaForm>;
export const VersionForm = z.object({ version_id: z.string().max(100) });
export const AccessForm = z.object({ access_grants: Grants });

export const ListQuery = z.object({
  query: z.string().max(500).optional(),
  view_option: z.enum(["", "created", "shared"]).optional(),
  tag: z.string().max(100).optional(),
  /** Those in use alone, as the composer offers them. */
  is_active: z.stringbool().optional(),
  order_by: z.enum(["name", "command", "created_at", "updated_at"]).default("updated_at"),
  direction: z.enum(["asc", "desc"]).default("desc"),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
});
export type ListQuery = z.output<typeof ListQuery>;

export const IdParams = z.object({ id: z.string().max(200) });
export const HistoryParams = IdParams.extend({ history_id: z.string().max(200) });
export const HistoryQuery = z.object({ page: z.coerce.number().int().min(0).max(1_000_000).default(0) });
/** Both are needed; the prompt is looked for first, so that strangers learn nothing. */
export const DiffQuery = z.object({
  from_id: z.string().max(200).optional(),
  to_id: z.string().max(200).optional(),
});

const Snapshot = z.looseObject({
  name: z.string(),
  command: z.string(),
  content: z.string(),
  data: Bag,
  meta: Bag,
  tags: z.array(z.string()),
});
export const HistoryEntry = z
  .object({
    id: z.string(),
    prompt_id: z.string(),
    parent_id: z.string().nullable(),
    snapshot: Snapshot,
    user_id: z.string(),
    user: Person.nullable(),
    commit_message: z.string().nullable(),
    is_production: z.boolean(),
    created_at: z.int(),
  })
  .meta({ id: "PromptHistory" });
export const HistoryDiff = z
  .object({
    from_id: z.string(),
    to_id: z.string(),
    from_snapshot: Snapshot,
    to_snapshot: Snapshot,
    /** Lines that begin with " ", "-" or "+". */
    content_diff: z.array(z.string()),
    name_changed: z.boolean(),
  })
  .meta({ id: "PromptHistoryDiff" });
