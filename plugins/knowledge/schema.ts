import { z } from "zod";
import { GrantInputs } from "#kernel/access/grant-inputs.ts";

const Bag = z.record(z.string(), z.unknown());
const Status = z.enum(["processing", "processed", "error"]);
const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() }).nullable();
const Grant = z.looseObject({
  principal_type: z.enum(["user", "group", "anyone"]),
  principal_id: z.string(),
  permission: z.enum(["read", "write"]),
});

/** A collection (Core API, Knowledge collection; contract 6.2). */
export const Knowledge = z
  .object({
    id: z.string(),
    user_id: z.string(),
    type: z.literal("collection"),
    status: Status,
    name: z.string(),
    description: z.string(),
    meta: Bag,
    access_grants: z.array(Grant),
    write_access: z.boolean(),
    /** Whether the caller may delete and empty it. */
    owner_access: z.boolean(),
    file_count: z.int(),
    /** Bytes of its files. */
    size: z.number(),
    processing_count: z.int(),
    error_count: z.int(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "Knowledge" });

export const KnowledgeItem = Knowledge.extend({ user: Person }).meta({ id: "KnowledgeItem" });
export const KnowledgePage = z
  .object({ items: z.array(KnowledgeItem), total: z.int() })
  .meta({ id: "KnowledgePage" });

/** How far the index of a file has come; null without an index. */
const IndexState = z
  .object({
    passages: z.int(),
    embedded: z.int(),
    status: z.enum(["pending", "embedding", "ready", "failed"]),
    error: z.string().nullable(),
  })
  .nullable();

/** A file of a collection, without its text. */
export const KnowledgeFile = z
  .object({
    id: z.string(),
    user_id: z.string(),
    filename: z.string(),
    hash: z.string().nullable(),
    directory_id: z.string().nullable(),
    status: Status,
    error: z.string().nullable(),
    meta: z.object({ name: z.string(), content_type: z.string().nullable(), size: z.number() }),
    index: IndexState.optional(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "KnowledgeFile" });

export const KnowledgeDetail = Knowledge.extend({
  user: Person,
  files: z.array(KnowledgeFile),
  /** Files that could not be added, with the reason. */
  warnings: z.object({ message: z.string(), errors: z.array(z.string()) }).optional(),
  /** The watched folder that it is kept in step with. */
  watch: z
    .object({
      folder: z.string().nullable(),
      looked_at: z.int(),
      is_running: z.boolean(),
      files: z.int(),
      failed: z.int(),
      error: z.string().nullable(),
      /** Files that could not be read; at most 100. */
      failures: z.array(z.object({ path: z.string(), error: z.string() })),
    })
    .nullable()
    .optional(),
}).meta({ id: "KnowledgeDetail" });

export const KnowledgeDirectory = z
  .object({
    id: z.string(),
    knowledge_id: z.string(),
    parent_id: z.string().nullable(),
    user_id: z.string(),
    name: z.string(),
    /** Files in it and below; in lists. */
    file_count: z.int().optional(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "KnowledgeDirectory" });

export const KnowledgeFilePage = z
  .object({
    items: z.array(KnowledgeFile),
    directories: z.array(KnowledgeDirectory),
    /** From the outermost directory to the one that is shown. */
    breadcrumbs: z.array(z.object({ id: z.string(), name: z.string() })),
    total: z.int(),
  })
  .meta({ id: "KnowledgeFilePage" });

export const FoundFiles = z
  .object({
    items: z.array(KnowledgeFile.extend({ collection: z.object({ id: z.string(), name: z.string() }) })),
    total: z.int(),
  })
  .meta({ id: "KnowledgeFoundFiles" });

export const Pending = z
  .object({
    processing: z.int(),
    processed: z.int(),
    error: z.int(),
    /** Those that are not ready, the failed first; at most 500. */
    files: z.array(KnowledgeFile),
  })
  .meta({ id: "KnowledgePending" });

export const CollectionForm = z
  .object({
    name: z.string().trim().min(1).max(500),
    description: z.string().max(10_000).default(""),
    meta: Bag.optional(),
    access_grants: GrantInputs.nullish(),
  })
  .meta({ id: "KnowledgeForm" });
export type CollectionForm = z.output<typeof CollectionForm>;

export const CollectionChange = z
  .object({
    name: z.string().trim().min(1).max(500).optional(),
    description: z.string().max(10_000).optional(),
    meta: Bag.optional(),
    access_grants: GrantInputs.nullish(),
  })
  .meta({ id: "KnowledgeChange" });
export type CollectionChange = z.output<typeof CollectionChange>;

export const AccessForm = z.object({ access_grants: GrantInputs });

const Id = z.string().min(1).max(200);
export const ById = z.object({ id: Id });
export const FileForm = z.object({ file_id: Id, directory_id: Id.nullish() });
export const FilesForm = z
  .array(z.object({ file_id: Id, directory_id: Id.nullish() }))
  .min(1)
  .max(10_000);
/** One file or several. */
export const MoveForm = z.object({
  file_id: Id.optional(),
  file_ids: z.array(Id).min(1).max(10_000).optional(),
  directory_id: Id.nullable(),
});
export const RemoveForm = z.object({
  file_id: Id.optional(),
  file_ids: z.array(Id).min(1).max(10_000).optional(),
});
export const DirectoryForm = z.object({ name: z.string().min(1).max(1000), parent_id: Id.nullish() });
export const DirectoryChange = z.object({
  name: z.string().min(1).max(1000).optional(),
  parent_id: Id.nullable().optional(),
});

export const Page = z.coerce.number().int().min(1).max(1_000_000).default(1);
export const ListQuery = z.object({ page: Page });
export const SearchQuery = z.object({
  query: z.string().max(500).optional(),
  /** Whose: one's own, those of others, or both when left out. */
  view_option: z.enum(["", "created", "shared"]).optional(),
  /** Collections of this server (`local`), or of external sources, of which there are none. */
  source: z.enum(["", "all", "local", "external"]).optional(),
  order_by: z.enum(["name", "created_at", "updated_at"]).default("updated_at"),
  direction: z.enum(["asc", "desc"]).default("desc"),
  page: Page,
});
export type SearchQuery = z.output<typeof SearchQuery>;

export const FilesQuery = z.object({
  query: z.string().max(500).optional(),
  /** Empty for the root; left out with a query, the whole collection is searched. */
  directory_id: z.string().max(200).optional(),
  status: Status.optional(),
  order_by: z.enum(["name", "created_at", "updated_at", "size", "status"]).default("name"),
  direction: z.enum(["asc", "desc"]).default("asc"),
  page: Page,
});
export type FilesQuery = z.output<typeof FilesQuery>;

export const Manifest = z
  .object({
    manifest: z
      .array(
        z.object({
          /** The folder of the file, with `/` between its parts; empty at the root. */
          path: z.string().max(4_000).default(""),
          filename: z.string().min(1).max(1_000),
          /** SHA-256 of the bytes in hex. */
          checksum: z.string().max(200),
          size: z.number().min(0),
        }),
      )
      .max(20_000),
    /** The directory that the paths begin in; the root when left out. */
    directory_id: Id.nullish(),
  })
  .meta({ id: "KnowledgeManifest" });
export type Manifest = z.output<typeof Manifest>;

const Entry = z.object({ path: z.string(), filename: z.string(), checksum: z.string(), size: z.number() });
export const SyncDiff = z
  .object({
    added: z.array(Entry),
    /** Those with other bytes than the file of that place; `file_id` is what they replace. */
    modified: z.array(Entry.extend({ file_id: z.string() })),
    /** Files that the manifest does not name. */
    deleted: z.array(z.object({ file_id: z.string(), path: z.string(), filename: z.string() })),
    /** Paths of directories that are missing, parents first. */
    mkdir: z.array(z.string()),
    /** Directories that the manifest does not need, those inside others first. */
    rmdir: z.array(z.object({ id: z.string(), path: z.string() })),
    unmodified_count: z.int(),
    /** By path. */
    directory_map: z.record(z.string(), z.string()),
  })
  .meta({ id: "KnowledgeSyncDiff" });

export const Cleanup = z.object({
  file_ids: z.array(Id).max(20_000).default([]),
  dir_ids: z.array(Id).max(20_000).default([]),
});

/** A switch in a query: true, false, 1 or 0, whatever the case. */
export function toggle(value: boolean) {
  const shape = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }).default(value);
  return shape.meta({ type: "boolean", default: value });
}
