import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import type { Upload } from "#kernel/http/upload.ts";
import type { Logger } from "#kernel/log.ts";
import type { Blobs } from "#storage/blobs.ts";
import { seconds } from "#storage/clock.ts";
import { toMediaType } from "./media.ts";
import { requireAllowedExtension, toDisplayName } from "./names.ts";
import { limitsOf, noRoom, type SizeRules } from "./quota.ts";
import { toRecord } from "./record.ts";
import type { FileRecord } from "./service.ts";
import type { FileStore, NewFile } from "./store.ts";

export interface UploadRules extends SizeRules {
  /** RAG_ALLOWED_FILE_EXTENSIONS; empty = all. */
  allowedExtensions(): readonly string[];
}

export interface UploadsOptions {
  readonly store: FileStore;
  readonly blobs: Blobs;
  readonly log: Logger;
  readonly rules: UploadRules;
}

export interface IncomingFile {
  readonly userId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Readable;
  /** Kept as `meta.data`. */
  readonly metadata?: Record<string, unknown>;
  /** Further keys of `meta`. */
  readonly meta?: Record<string, unknown>;
}

interface Receiving {
  readonly process: boolean;
  readonly signal: AbortSignal;
  /** Throws to refuse an upload for what its form field `metadata` says. */
  admit?(metadata: Readonly<Record<string, unknown>>): Promise<void>;
}

interface StoredBytes {
  readonly id: string;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** Everything below this prefix of the blob store belongs to files. */
export const blobPrefix = "files/";

/** When the upload of a blob began, in epoch seconds; undefined for a key that is not ours. */
export function beganAt(path: string): number | undefined {
  const began = /^files\/\d+\/(\d+)-[0-9a-f-]{36}$/.exec(path)?.[1];
  return began === undefined ? undefined : Number(began);
}

/**
 * Stores bytes as files. The bytes come first, under a key of the server's making; the row follows once they
 * are complete, so that a record always has its bytes. What a crash leaves in between is swept.
 */
export function createUploads({ store, blobs, log, rules }: UploadsOptions) {
  async function write(file: Omit<IncomingFile, "userId">, signal?: AbortSignal): Promise<StoredBytes> {
    const id = randomUUID();
    const began = seconds();
    const path = `${blobPrefix}${Math.floor(began / 86_400)}/${began}-${id}`;
    const written = blobs.write(path, file.bytes, signal ? { signal } : {});
    return { id, path, ...(await written) };
  }

  return {
    /** Stores a file that the server itself has; no limits apply. */
    async create(file: IncomingFile): Promise<FileRecord> {
      return toRecord(await store.insert(toRow(await write(file), file, "completed")));
    },

    /** Stores the form field `file` of an upload. Throws `invalid` and `too_large` as the rules say. */
    async receive(
      userId: string,
      upload: Upload,
      { process, signal, admit }: Receiving,
    ): Promise<FileRecord> {
      let bytes: StoredBytes | undefined;
      let metadata: Record<string, unknown>;
      let sent: { filename: string; contentType: string };
      try {
        const limits = await limitsOf(userId, { store, rules });
        const { result, fields } = await upload.receive("file", limits, async (file) => {
          requireAllowedExtension(toDisplayName(fromFormName(file.filename)), rules.allowedExtensions());
          bytes = await write(
            { filename: file.filename, contentType: file.contentType, bytes: file.stream },
            signal,
          );
          return { filename: fromFormName(file.filename), contentType: file.contentType };
        });
        sent = result;
        metadata = parseMetadata(fields.metadata);
        await admit?.(metadata);
      } catch (error) {
        if (bytes) {
          await discard(bytes.path, { blobs, log });
        }
        throw error;
      }
      // An insert that fails may still have been committed; its bytes are left to the sweep, which asks the rows.
      const written = bytes as NonNullable<typeof bytes>;
      const row = toRow(written, { userId, ...sent, metadata }, process ? "pending" : "completed");
      const quota = rules.quotaBytes();
      const stored = quota === null ? await store.insert(row) : await store.insertWithin(row, quota);
      if (stored === undefined) {
        // Others of the same person came first.
        await discard(written.path, { blobs, log });
        throw noRoom(await store.bytesOf(userId), quota as number);
      }
      return toRecord(stored);
    },
  };
}

/** The row for stored bytes. */
function toRow(
  bytes: StoredBytes,
  file: Omit<IncomingFile, "bytes">,
  status: "pending" | "completed",
): NewFile {
  const filename = toDisplayName(file.filename);
  const meta = {
    ...file.meta,
    name: filename,
    content_type: toMediaType(file.contentType, filename),
    size: bytes.size,
    file_hash: bytes.sha256,
    data: file.metadata ?? {},
    collection_name: `file-${bytes.id}`,
  };
  return {
    id: bytes.id,
    userId: file.userId,
    hash: bytes.sha256,
    filename,
    path: bytes.path,
    status,
    meta,
  };
}

async function discard(path: string, { blobs, log }: Pick<UploadsOptions, "blobs" | "log">): Promise<void> {
  try {
    await blobs.remove(path);
  } catch (error) {
    log.warn({ err: error, path }, "the bytes of a refused upload stay until the next sweep");
  }
}

export type Uploads = ReturnType<typeof createUploads>;

/** Browsers write a quotation mark in a form's file name as %22 and escape nothing else that a name keeps. */
function fromFormName(sent: string): string {
  return sent.replaceAll("%22", '"');
}

function parseMetadata(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text.trim() === "") {
    return {};
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new AppError("invalid", "The form field metadata is not valid JSON.", { cause: error });
  }
  if (value === null) {
    return {};
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new AppError("invalid", "The form field metadata must be a JSON object.");
  }
  return value as Record<string, unknown>;
}
