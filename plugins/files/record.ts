import type { FileRecord } from "./service.ts";
import type { FileTable } from "./tables.ts";

/** The columns a record is composed of; lists leave `path` out, and `content` unless they are asked for it. */
export type FileFacts = Pick<
  FileTable,
  "id" | "user_id" | "hash" | "filename" | "status" | "error" | "created_at" | "updated_at"
> & {
  data: Record<string, unknown>;
  meta: Record<string, unknown>;
  content?: string | null;
  path?: string | null;
};

/** Composes the wire shape. */
export function toRecord(row: FileFacts): FileRecord {
  const { id, user_id, hash, filename, meta, created_at, updated_at } = row;
  const data = {
    ...row.data,
    status: row.status,
    ...(row.content === null || row.content === undefined ? {} : { content: row.content }),
    error: row.error,
  };
  const path = row.path === undefined ? {} : { path: row.path };
  return { id, user_id, hash, filename, ...path, data, meta, created_at, updated_at };
}

/**
 * A JSON value the database can hold: it refuses NUL characters and half characters, which clients and
 * extractors do send. Resolves unknown things (functions, undefined) the way JSON does.
 */
export function toStorable(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => {
    if (typeof entry === "string") {
      return toStorableText(entry);
    }
    if (entry !== null && typeof entry === "object" && !Array.isArray(entry)) {
      return Object.fromEntries(Object.entries(entry).map(([key, inner]) => [toStorableText(key), inner]));
    }
    return entry;
  });
}

/** The same for one text. */
export function toStorableText(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
