import { z } from "zod";

/** A result of a search (appendix A4). */
export const Hit = z
  .object({ title: z.string(), link: z.string(), snippet: z.string() })
  .meta({ id: "WebHit" });

const flag = z.stringbool().meta({ type: "boolean" });

export const PageForm = z.object({
  url: z.string().min(1).max(4_000),
  collection_name: z.string().max(300).nullish(),
});

export const PageQuery = z.object({
  /** False gives the page's text alone and stores nothing. */
  process: flag.default(true),
  overwrite: flag.default(true),
});

export const ProcessedPage = z
  .object({
    status: z.literal(true),
    collection_name: z.string().nullable(),
    filename: z.string(),
    content: z.string().optional(),
    file: z.object({
      data: z.object({ content: z.string() }),
      meta: z.object({ name: z.string(), source: z.string() }),
    }),
  })
  .meta({ id: "ProcessedPage" });

export const SearchForm = z.object({ queries: z.array(z.string().min(1).max(400)).min(1).max(10) });

export const SearchedPages = z
  .object({
    status: z.literal(true),
    collection_name: z.null().optional(),
    collection_names: z.array(z.string()).optional(),
    filenames: z.array(z.string()),
    items: z.array(Hit),
    docs: z.array(z.object({ content: z.string(), metadata: z.looseObject({}) })).optional(),
    loaded_count: z.int(),
  })
  .meta({ id: "SearchedPages" });
