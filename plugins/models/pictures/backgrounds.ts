import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import { type BackgroundImage, maxBackgroundBytes } from "./background-image.ts";
import { sniffPicture } from "#kernel/picture-type.ts";
import { backgroundFile, recordsWithFile, toFileUrl } from "./linked-files.ts";
import type { ModelParts } from "../parts.ts";
import type { ModelRow } from "../records/store.ts";

/** Marks a file that an import made, which nobody else counts on. */
const mark = "model_background";

/** The stored file of a record's background. Throws `invalid` (Core API, Errors: the whole export fails) when it is missing. */
export async function loadBackground(
  { files }: Pick<ModelParts, "files">,
  caller: Principal,
  row: Pick<ModelRow, "id" | "meta">,
): Promise<FileRecord | undefined> {
  const id = backgroundFile(row.meta);
  if (id === undefined) {
    return undefined;
  }
  try {
    const file = await files.load(caller, id, "read");
    // A row without its bytes counts as missing too; found out before the answer begins.
    (await files.open(file)).destroy();
    return file;
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      throw new AppError("invalid", `The background image of the model "${row.id}" is missing.`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** The bytes as `background_image_data`. Throws `invalid` for a file that no instance would take in. */
export async function toDataUri(
  { files }: Pick<ModelParts, "files">,
  file: FileRecord,
  modelId: string,
): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of (await files.open(file)) as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxBackgroundBytes) {
      throw new AppError("invalid", `The background image of the model "${modelId}" is larger than 5 MiB.`);
    }
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces, size);
  const type = sniffPicture(bytes);
  if (type === undefined) {
    throw new AppError(
      "invalid",
      `The background image of the model "${modelId}" is no PNG, JPEG, WebP or GIF image.`,
    );
  }
  return `data:image/${type};base64,${bytes.toString("base64")}`;
}

/** Stores an imported picture as a file of the importer; resolves to its id and whether it is new. */
export async function storeBackground(
  { files }: Pick<ModelParts, "files">,
  caller: Principal,
  { image, before }: { image: BackgroundImage; before: ModelRow | undefined },
): Promise<{ id: string; url: string; isNew: boolean }> {
  const hash = createHash("sha256").update(image.bytes).digest("hex");
  const known = before && backgroundFile(before.meta);
  const stored = known && (await files.load(caller, known, "read").catch(() => undefined));
  // The same list imported again and again must not fill the disk.
  if (stored && stored.hash === hash) {
    return { id: stored.id, url: toFileUrl(stored.id), isNew: false };
  }
  const { id } = await files.create(caller, {
    filename: `background.${image.type === "jpeg" ? "jpg" : image.type}`,
    contentType: `image/${image.type}`,
    bytes: Readable.from([image.bytes]),
    meta: { [mark]: true },
  });
  return { id, url: toFileUrl(id), isNew: true };
}

/** Removes files that imports made and that no model shows any more. Never throws: a file left over does no harm. */
export async function forgetBackgrounds(
  { files, records, log }: ModelParts,
  caller: Principal,
  ids: readonly string[],
): Promise<void> {
  const saved = await records.fresh();
  for (const id of new Set(ids)) {
    if (recordsWithFile(saved, id).length > 0) {
      continue;
    }
    try {
      const file = await files.load(caller, id, "write");
      if (file.meta[mark] === true) {
        await files.remove(caller, id);
      }
    } catch (error) {
      log.debug({ err: error, file: id }, "the background of a former model stays");
    }
  }
}
