import type { Directory, KnowledgeFile } from "../knowledge.ts";

/** The dialog that stands open on the page of a collection. */
export type OpenDialog =
  | { readonly kind: "share" | "details" | "directory" }
  | { readonly kind: "file"; readonly file: KnowledgeFile }
  | { readonly kind: "rename"; readonly directory: Directory };
