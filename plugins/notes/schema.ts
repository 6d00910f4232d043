import { z } from "zod";
import { GrantInputs } from "#kernel/access/grant-inputs.ts";
import { maxState } from "./live/document.ts";
import { maxMarkdown } from "./web/text/limit.ts";

const Bag = z.looseObject({});
/** Epoch nanoseconds. */
const Time = z.union([z.bigint(), z.number()]);
const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });
const Page = z.coerce.number().int().min(1).max(1_000_000);
const Title = z.string().trim().max(500);

const facts = {
  id: z.string(),
  user_id: z.string(),
  title: z.string(),
  meta: Bag,
  access_grants: z.array(Bag),
  write_access: z.boolean(),
  is_pinned: z.boolean(),
  created_at: Time,
  updated_at: Time,
  user: Person.nullable(),
};

/** A note in a list: `data.content.md` is the beginning of its text. */
export const NoteItem = z
  .object({ ...facts, data: z.object({ content: z.object({ md: z.string() }) }) })
  .meta({ id: "NoteItem" });
export const NotePage = z.object({ items: z.array(NoteItem), total: z.int() });

export const NoteRecord = z
  .object({
    ...facts,
    data: z.looseObject({
      content: z.object({ md: z.string(), html: z.string(), json: Bag }),
      files: z.array(Bag),
    }),
  })
  .meta({ id: "Note" });

const Content = z.object({
  /** The text. `html` and `json` are made of it. */
  md: z.string().max(maxMarkdown).nullish(),
  html: z.unknown().optional(),
  json: z.unknown().optional(),
});
const NoteData = z.looseObject({
  content: Content.nullish(),
  files: z
    .array(z.looseObject({ id: z.string().max(200) }))
    .max(100)
    .nullish(),
});

/** An update of Yjs as base64. */
export const EditForm = z.object({ update: z.base64().max(Math.ceil(maxState / 3) * 4) });

export const NoteForm = z
  .object({
    title: Title,
    data: NoteData.nullish(),
    meta: Bag.nullish(),
    access_grants: GrantInputs.nullish(),
  })
  .meta({ id: "NoteForm" });
export type NoteForm = z.output<typeof NoteForm>;

/** Members that are left out stay as they are. */
export const NoteUpdate = z
  .object({
    title: Title.optional(),
    data: NoteData.nullish(),
    meta: Bag.nullish(),
    access_grants: GrantInputs.nullish(),
    /** The state that was changed: 409 when another one was stored meanwhile. Epoch nanoseconds. */
    updated_at: Time.optional(),
  })
  .meta({ id: "NoteUpdate" });
export type NoteUpdate = z.output<typeof NoteUpdate>;

export const AccessForm = z.object({ access_grants: GrantInputs });
export const IdParams = z.object({ id: z.string().max(256) });
export const VersionParams = IdParams.extend({ version_id: z.string().max(256) });

/** Without a page all notes are given. */
export const PageQuery = z.object({ page: Page.optional() });
export const SearchQuery = z.object({
  query: z.string().max(500).default(""),
  view_option: z.enum(["", "created", "shared"]).default(""),
  permission: z.enum(["", "read", "read_only", "write"]).default(""),
  order_by: z.enum(["", "title", "created_at", "updated_at"]).default(""),
  direction: z.enum(["asc", "desc"]).default("desc"),
  page: Page.default(1),
});
export type SearchQuery = z.output<typeof SearchQuery>;

const versionFacts = {
  id: z.string(),
  note_id: z.string(),
  title: z.string(),
  user: Person.nullable(),
  created_at: Time,
  updated_at: Time,
};
export const VersionItem = z.object({ ...versionFacts, chars: z.int() }).meta({ id: "NoteVersionItem" });
export const VersionRecord = z.object({ ...versionFacts, content: z.string() }).meta({ id: "NoteVersion" });
/** Left out, `to_id` is the note as it is now. */
export const DiffQuery = z.object({ from_id: z.string().max(256), to_id: z.string().max(256).optional() });
/** Lines behind " " (in both), "-" (only before) or "+" (only after). */
export const VersionDiff = z.object({ lines: z.array(z.string()) });

export const NoteChat = z
  .object({ id: z.string(), title: z.string(), note_id: z.string(), created_at: Time })
  .meta({ id: "NoteChat" });
