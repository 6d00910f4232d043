import { z } from "zod";

const Name = z.string().min(1).max(300);

/** Longest text that is taken in one request, as files have it. */
const maxText = 10_000_000;

export const FileForm = z.object({
  file_id: z.string().max(200),
  content: z.string().max(maxText).nullish(),
  collection_name: Name.nullish(),
});

export const TextForm = z.object({
  name: z.string().min(1).max(500),
  content: z.string().max(maxText),
  collection_name: Name.nullish(),
});

export const Processed = z
  .object({
    status: z.literal(true),
    collection_name: z.string(),
    filename: z.string(),
    content: z.string(),
  })
  .meta({ id: "ProcessedText" });

const queryFields = {
  query: z.string().min(1).max(20_000),
  k: z.int().min(1).max(200).nullish(),
  k_reranker: z.int().min(1).max(200).nullish(),
  r: z.number().min(0).max(1).nullish(),
  hybrid: z.boolean().nullish(),
  hybrid_bm25_weight: z.number().min(0).max(1).nullish(),
};

export const DocumentQuery = z.object({ ...queryFields, collection_name: Name });
export const CollectionQuery = z.object({
  ...queryFields,
  collection_names: z.array(Name).min(1).max(1_000),
});

/** One inner list for each question, of which there is one. */
export const QueryAnswer = z
  .object({
    distances: z.array(z.array(z.number())),
    documents: z.array(z.array(z.string())),
    metadatas: z.array(z.array(z.looseObject({}))),
  })
  .meta({ id: "RetrievalAnswer" });

export const DeleteForm = z.object({ collection_name: Name, file_id: z.string().max(200) });
export const Done = z.object({ status: z.boolean() });

export const BatchForm = z.object({
  files: z.array(z.looseObject({ id: z.string().max(200) })).max(1_000),
  collection_name: Name,
});
const BatchEntry = z.object({
  file_id: z.string(),
  status: z.enum(["completed", "failed"]),
  error: z.string().optional(),
});
export const BatchAnswer = z
  .object({ results: z.array(BatchEntry), errors: z.array(BatchEntry) })
  .meta({ id: "RetrievalBatch" });

/** Settings by the names of their variables; those of the web stand below `web`. */
export const Settings = z
  .looseObject({ web: z.looseObject({}).optional() })
  .meta({ id: "RetrievalSettings" });

/** The passages of one page, and what the index knows of the file; `none` while it has no passages. */
export const FilePassages = z
  .object({
    items: z
      .array(
        z.object({
          id: z.string(),
          /** From 0, in the order of the text. */
          position: z.int(),
          content: z.string(),
          /** In UTF-16 units of the file's text; `end` is behind the last one. */
          start: z.int(),
          end: z.int(),
          page: z.int().nullable(),
          sheet: z.string().nullable(),
          part: z.string().nullable(),
          headings: z.array(z.string()).readonly(),
        }),
      )
      .readonly(),
    total: z.int(),
    /** Passages with a vector. */
    embedded: z.int(),
    status: z.enum(["none", "pending", "embedding", "ready", "failed"]),
    error: z.string().nullable(),
  })
  .meta({ id: "FilePassages" });
