import type { Principal } from "#kernel/access/principal.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

export { below, type Prefix } from "./routes/prefix.ts";

/** Files and collections that are searched. Whoever holds a scope has been allowed to read it: see `Retrieval.scope`. */
export interface SearchScope {
  /** Ids of files. */
  readonly files: readonly string[];
  /** Names of collections: a knowledge id, `file-<id>`, or a name that `addText` gave. */
  readonly collections: readonly string[];
}

/** Settings of one search, where they differ from the instance's (`rag.*`). */
export interface SearchSettings {
  /** Passages that are given back. */
  readonly topK?: number;
  readonly hybrid?: boolean;
  /** Share of keyword search in the weighted sum, from 0 to 1. */
  readonly keywordWeight?: number;
  /** Least score of a passage, from 0 to 1; the reranker's where one is set. */
  readonly threshold?: number;
  readonly rerank?: boolean;
  readonly rerankTopK?: number;
}

export interface Question {
  readonly scope: SearchScope;
  /** One question, or several that say the same in other words: what any of them finds counts. */
  readonly queries: readonly string[];
  readonly settings?: SearchSettings;
  readonly signal: AbortSignal;
  /** Adds the trace, for people who want to see why. */
  readonly explain?: boolean;
}

/** A passage of a source that answers a question. */
export interface FoundPassage {
  readonly id: string;
  /** The file, or the text that `addText` stored. */
  readonly sourceId: string;
  readonly fileId: string | undefined;
  /** Name of the file or page, for people. */
  readonly name: string;
  readonly url: string | undefined;
  readonly content: string;
  /** Where it stands in the source's text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly page: number | undefined;
  readonly sheet: string | undefined;
  /** Titles above it, from the outermost. */
  readonly headings: readonly string[];
  /** From 0 to 1, which is best: what decided its place. */
  readonly score: number;
  /** What each method gave it; undefined where the method did not find it. */
  readonly scores: { readonly keyword?: number; readonly vector?: number; readonly rerank?: number };
}

/** A passage with its place in its file. */
export interface PassageOfFile {
  readonly id: string;
  /** From 0, in the order of the text. */
  readonly position: number;
  readonly content: string;
  /** In UTF-16 units of the file's text. */
  readonly start: number;
  readonly end: number;
  readonly page: number | null;
  readonly sheet: string | null;
  readonly part: string | null;
  readonly headings: readonly string[];
}

/** How a search came to its passages. */
export interface SearchTrace {
  /** Candidates of each method, best first, with the method's own score. */
  readonly keyword: readonly TracedPassage[];
  readonly vector: readonly TracedPassage[];
  readonly fused: readonly TracedPassage[];
  readonly reranked: readonly TracedPassage[] | undefined;
  /** Passages that stood high enough and were left out, with the reason in words. */
  readonly cut: readonly (TracedPassage & { readonly reason: string })[];
  /** Milliseconds of each step. */
  readonly times: Readonly<Record<"embed" | "keyword" | "vector" | "rerank" | "total", number>>;
  /** Why a method was left out, such as an embedder that does not answer. */
  readonly notes: readonly string[];
}

export interface TracedPassage {
  readonly id: string;
  readonly name: string;
  readonly content: string;
  readonly score: number;
  readonly page?: number | undefined;
}

export interface SearchResult {
  /** Best first. */
  readonly passages: readonly FoundPassage[];
  readonly trace: SearchTrace | undefined;
}

/** How far the index of one source has come. */
export interface IndexProgress {
  readonly passages: number;
  /** Passages whose vectors stand in the index that serves now. */
  readonly embedded: number;
  readonly status: "pending" | "embedding" | "ready" | "failed";
  readonly error: string | undefined;
}

export interface NewText {
  readonly owner: Principal;
  /** A collection that the owner may write; a new one of the owner's when left out. */
  readonly collection?: string;
  /** Replaces what the collection holds instead of adding to it. */
  readonly overwrite?: boolean;
  readonly name: string;
  readonly url?: string;
  readonly content: string;
}

/** A text that a plugin keeps for one person. */
export interface OwnText {
  /** Given by the plugin; an older text of this id is replaced. */
  readonly id: string;
  /** Has a colon in it: no request can name it, so who may read it is the plugin's matter alone. */
  readonly collection: `${string}:${string}`;
  readonly userId: string;
  readonly name: string;
  readonly content: string;
}

/** The index of passages, and questions to it. */
export interface Retrieval {
  /**
   * The scope of what a caller names, each read-checked. Throws `not_found` for what is unknown or foreign, `invalid`
   * for names that are none. BYPASS_RETRIEVAL_ACCESS_CONTROL and ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS hold here.
   */
  scope(principal: Principal, named: Partial<SearchScope>): Promise<SearchScope>;
  /**
   * Lets a name pass that texts of the principal may be put into, and makes a new one the principal's. Throws
   * `not_found` for what is foreign, `invalid` for what is no name. `addText` asks the same: this is for what takes
   * long before there is a text.
   */
  requireWritable(principal: Principal, collection: string): Promise<void>;
  search(question: Question): Promise<SearchResult>;
  /** True while models get whole texts instead of passages (RAG_FULL_CONTEXT, BYPASS_EMBEDDING_AND_RETRIEVAL). */
  wantsWholeTexts(): boolean;
  /** Indexes a text that is no file. Resolves once it can be found by its words; vectors follow. */
  addText(text: NewText): Promise<{ readonly collection: string; readonly sourceId: string }>;
  /** Indexes a text of a plugin's own. Resolves once it can be found by its words; vectors follow. */
  putText(text: OwnText): Promise<void>;
  /** Takes texts of `addText` and `putText` out of the index. */
  removeTexts(sourceIds: readonly string[]): Promise<void>;
  /** The whole texts of a scope, in the order of their names; at most `limit` characters in all. */
  texts(
    scope: SearchScope,
    limit: number,
  ): Promise<
    readonly {
      readonly sourceId: string;
      readonly fileId: string | undefined;
      readonly name: string;
      readonly url: string | undefined;
      readonly content: string;
      readonly truncated: boolean;
    }[]
  >;
  /** Puts files into a collection, out of it, or removes the collection; passages of files stay with their files. */
  link(collection: string, fileIds: readonly string[]): Promise<void>;
  unlink(collection: string, fileIds: readonly string[]): Promise<void>;
  drop(collection: string): Promise<void>;
  /** Passages of a file that the caller may read, in the order of its text. */
  passages(
    fileId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly PassageOfFile[]>;
  /** By file id; files without passages are left out. */
  progress(fileIds: readonly string[]): Promise<ReadonlyMap<string, IndexProgress>>;
  /** Cuts and embeds files anew, in the background. */
  reindex(fileIds: readonly string[]): Promise<void>;
}

export const retrieval = defineService<Retrieval>("retrieval");

/** Says who may read and write collections whose names are its own; filled by the plugin that knows them. */
export interface CollectionAccess {
  readonly id: string;
  /** Those of `names` that are its own and that the principal may use this way; it leaves out the rest. */
  allowed(
    principal: Principal,
    names: readonly string[],
    action: "read" | "write",
  ): Promise<ReadonlySet<string>>;
}

export const collectionAccess = defineSlot<CollectionAccess>("retrieval.collections");

/** Shows how passages reach a model; filled by the plugin that gives them. */
export interface PromptPreview {
  /** The messages that a model gets for a question that stands alone. */
  show(
    question: string,
    passages: readonly FoundPassage[],
  ): readonly { readonly role: string; readonly content: string }[];
}

export const promptPreviews = defineSlot<PromptPreview>("retrieval.prompt-previews");
