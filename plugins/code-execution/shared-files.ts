import { buffer } from "node:stream/consumers";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ToolFile } from "#kernel/tools/output.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { FileRecord, Files } from "#plugins/files/service.ts";

/** Where code runs that wants the files of its chat. */
export interface FilePlace {
  readonly principal: Principal;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  /** The request's own `files`. */
  readonly named: readonly unknown[];
}

/** Files that code reads and writes. */
export interface SharedFiles {
  /** The records of files in the chat that the person may read. */
  find(place: FilePlace): Promise<FileRecord[]>;
  read(records: readonly FileRecord[]): Promise<ToolFile[]>;
  /** Takes what the person's browser uploaded out of the store again, as results. */
  take(principal: Principal, ids: readonly string[]): Promise<ToolFile[]>;
}

const maxFiles = 20;
const maxBytes = 50 * 1024 * 1024;

export function createSharedFiles({
  files,
  chats,
}: {
  readonly files: Files;
  readonly chats: Pick<Chats, "branch">;
}): SharedFiles {
  const tryLoad = async (principal: Principal, id: string) => {
    try {
      return await files.load(principal, id, "read");
    } catch (error) {
      if (error instanceof AppError) {
        return undefined;
      }
      throw error;
    }
  };
  const toFile = async (record: FileRecord): Promise<ToolFile> => ({
    name: record.filename,
    contentType: String(record.meta["content_type"] ?? "application/octet-stream"),
    bytes: await buffer(await files.open(record)),
  });
  return {
    async find({ principal, chatId, messageId, named }) {
      const stored = chatId && messageId ? await chats.branch(chatId, messageId) : [];
      const entries = [...named, ...stored.flatMap((message) => toList(message["files"]))];
      const ids = [...new Set(entries.flatMap(toFileId))].slice(-maxFiles);
      const records = await Promise.all(ids.map((id) => tryLoad(principal, id)));
      let bytes = 0;
      return records.filter((record): record is FileRecord => {
        bytes += record === undefined ? 0 : Number(record.meta["size"] ?? 0);
        return record !== undefined && bytes <= maxBytes;
      });
    },
    read: (records) => Promise.all(records.map(toFile)),
    async take(principal, ids) {
      const records = await Promise.all(ids.slice(0, maxFiles).map((id) => tryLoad(principal, id)));
      const own = records.filter((record) => record?.user_id === principal.userId) as FileRecord[];
      const taken = await Promise.all(own.filter(isOutput).map(toFile));
      // The reply stores them anew, as its own.
      await Promise.all(own.filter(isOutput).map(({ id }) => files.remove(principal, id)));
      return taken;
    },
  };
}

/** Clients mark what they upload for a run: other files of the person stay. */
function isOutput({ meta }: FileRecord): boolean {
  return (meta["data"] as { code_output?: unknown } | undefined)?.code_output === true;
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const fileTypes = new Set(["file", "image", "audio", "video", "undefined"]);

function toFileId(entry: unknown): string[] {
  const { type, id, url } = (entry ?? {}) as { type?: unknown; id?: unknown; url?: unknown };
  if (!fileTypes.has(String(type))) {
    return [];
  }
  const found = [id, url].flatMap((value) => (typeof value === "string" ? (uuid.exec(value) ?? []) : []));
  return found.slice(0, 1);
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
