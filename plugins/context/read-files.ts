import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { FileRecord, Files } from "#plugins/files/service.ts";

export interface ReadingFile {
  readonly files: Pick<Files, "load" | "settled">;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly waitSeconds: number;
}

/** A file with a text, or a sentence about what keeps it from the question. */
export type ReadableFile =
  | { readonly file: FileRecord; readonly problem?: undefined }
  | { readonly file?: undefined; readonly problem: string };

/** The file as it stands now: access is asked for anew, and one that is being read is waited for. Never throws for the file's sake. */
export async function readFile(
  { id, name }: { readonly id: string; readonly name: string },
  { files, principal, signal, waitSeconds }: ReadingFile,
): Promise<ReadableFile> {
  try {
    const loaded = await files.load(principal, id, "read");
    const file =
      isPending(loaded) && waitSeconds > 0 ? await settle(loaded, { files, signal, waitSeconds }) : loaded;
    const { filename, data } = file;
    if (isPending(file)) {
      return { problem: `“${filename}” is still being read, so this reply was written without it.` };
    }
    if (data["status"] === "failed") {
      const reason = typeof data["error"] === "string" ? data["error"] : "unknown reason";
      return { problem: `“${filename}” could not be read: ${reason}` };
    }
    return textOf(file) === ""
      ? { problem: `“${filename}” holds no text, so the model was given nothing of it.` }
      : { file };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError && (error.code === "not_found" || error.code === "forbidden")) {
      return { problem: `“${name}” is gone, or may not be read by you any more.` };
    }
    throw error;
  }
}

export function textOf({ data }: FileRecord): string {
  const { content } = data;
  return typeof content === "string" ? content.trim() : "";
}

function isPending({ data }: FileRecord): boolean {
  return data["status"] === "pending" || data["status"] === "processing";
}

async function settle(
  file: FileRecord,
  { files, signal, waitSeconds }: Pick<ReadingFile, "files" | "signal" | "waitSeconds">,
): Promise<FileRecord> {
  const limit = AbortSignal.timeout(waitSeconds * 1000);
  try {
    return await files.settled(file, AbortSignal.any([signal, limit]));
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) {
      return file;
    }
    throw error;
  }
}
