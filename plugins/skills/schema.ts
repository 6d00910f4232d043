import { z } from "zod";

const Bag = z.record(z.string(), z.unknown());
const Grant = z.object({
  principal_type: z.enum(["user", "group", "anyone"]),
  principal_id: z.string().max(256),
  permission: z.enum(["read", "write"]),
});
const Grants = z.array(Grant).max(1_000);
const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });
const FileFacts = z.object({ path: z.string(), size: z.int() });
const maxContent = 200_000;

const facts = {
  id: z.string(),
  user_id: z.string(),
  name: z.string(),
  description: z.string(),
  meta: Bag,
  is_active: z.boolean(),
  access_grants: z.array(z.looseObject(Grant.shape)),
  write_access: z.boolean(),
  created_at: z.int(),
  updated_at: z.int(),
};

/** A skill as lists show it, without its text. */
export const SkillItem = z.object({ ...facts, user: Person.nullable() }).meta({ id: "SkillItem" });
export const SkillPage = z.object({ items: z.array(SkillItem), total: z.int() });
export const SkillRecord = z
  .object({ ...facts, content: z.string(), files: z.array(FileFacts) })
  .meta({ id: "Skill" });

/** Bytes as base64. */
const GivenFile = z.object({ path: z.string().max(1_000), content: z.base64().max(1_500_000) });
export const SkillExport = SkillRecord.extend({ files: z.array(GivenFile) }).meta({ id: "SkillExport" });

const Meta = z.looseObject({ tags: z.array(z.string().max(50)).max(30).optional() });
const Name = z.string().trim().min(1).max(200);
const Description = z.string().trim().max(2_000);

export const SkillForm = z
  .object({
    /** Its form is checked by the rule that answers 400. */
    id: z.string().max(256),
    name: Name,
    description: Description.default(""),
    content: z.string().min(1).max(maxContent),
    meta: Meta.default({}),
    is_active: z.boolean().default(true),
    files: z.array(GivenFile).max(200).default([]),
    access_grants: Grants.nullish(),
  })
  .meta({ id: "SkillForm" });
export type SkillForm = z.output<typeof SkillForm>;

/** What is left out stays as it is; an id in the body is ignored. */
export const SkillUpdate = z
  .object({
    name: Name.optional(),
    description: Description.optional(),
    content: z.string().min(1).max(maxContent).optional(),
    meta: Meta.optional(),
    access_grants: Grants.nullish(),
    /** The state that was changed: 409 when another one was stored meanwhile. Unix seconds. */
    updated_at: z.int().optional(),
  })
  .meta({ id: "SkillUpdate" });
export type SkillUpdate = z.output<typeof SkillUpdate>;

export const AccessForm = z.object({ access_grants: Grants });
export const FileForm = GivenFile;
/** The skill is looked for first: without a path there is no such file. */
export const FileQuery = z.object({ path: z.string().max(1_000).default("") });
/** `text` is null for bytes that are no text. */
export const FileContent = FileFacts.extend({ content: z.string(), text: z.string().nullable() });
export const IdParams = z.object({ id: z.string().max(256) });

export const ListQuery = z.object({
  query: z.string().max(500).optional(),
  view_option: z.enum(["", "created", "shared"]).optional(),
  tag: z.string().max(100).optional(),
  is_active: z.stringbool().optional(),
  order_by: z.enum(["name", "created_at", "updated_at"]).default("updated_at"),
  direction: z.enum(["asc", "desc"]).default("desc"),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
});
export type ListQuery = z.output<typeof ListQuery>;
