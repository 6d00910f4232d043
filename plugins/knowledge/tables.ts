import type { Generated, Selectable } from "kysely";
import type { JsonColumn } from "#storage/core-tables.ts";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

/** The resource_type of grants on collections. */
export const resourceType = "knowledge";

/** A collection of files (configuration document, record `knowledge`). */
export interface KnowledgeTable {
  id: string;
  user_id: string;
  name: string;
  description: string;
  meta: JsonColumn;
  created_at: number;
  updated_at: number;
}

/** How far a file of a collection has come (Core API, knowledge file states). */
export type LinkStatus = "processing" | "processed" | "error";

/**
 * A file of a collection (record `knowledge_file`). Name, size, hash and type are the file's own, kept here so that
 * lists of ten thousand files are one query over one table.
 */
export interface KnowledgeFileTable {
  id: string;
  knowledge_id: string;
  file_id: string;
  /** The account that added it. */
  user_id: string;
  /** Null at the root. */
  directory_id: string | null;
  name: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the bytes in hex. */
  hash: string | null;
  content_type: string | null;
  status: LinkStatus;
  /** Why its text cannot be used. */
  error: string | null;
  created_at: number;
  updated_at: number;
}

/** A directory inside a collection (record `knowledge_directory`); names are unique beside each other, whatever their case. */
export interface KnowledgeDirectoryTable {
  id: string;
  knowledge_id: string;
  parent_id: string | null;
  user_id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

/** A file of a watched folder as it was last read. */
export interface KnowledgeWatchFileTable {
  knowledge_id: string;
  /** Below the folder, with `/` between its parts. */
  path: string;
  /** Null while the file could not be read. */
  file_id: string | null;
  size: number;
  modified_ms: number;
  hash: string | null;
  error: string | null;
}

/** What became of the last look at a watched folder. */
export interface KnowledgeWatchTable {
  knowledge_id: string;
  /** As the setting names it; shown to administrators alone. */
  folder: string;
  looked_at: number;
  is_running: Generated<boolean>;
  files: number;
  failed: number;
  error: string | null;
}

export interface KnowledgeTables {
  knowledge: KnowledgeTable;
  knowledge_file: KnowledgeFileTable;
  knowledge_directory: KnowledgeDirectoryTable;
  knowledge_watch: KnowledgeWatchTable;
  knowledge_watch_file: KnowledgeWatchFileTable;
}

export type CollectionRow = Selectable<KnowledgeTable>;
export type KnowledgeDatabase = PluginDatabase<KnowledgeTables>;
export type KnowledgeTransaction = PluginContext<never, never, KnowledgeTables>["transaction"];
