import { buffer } from "node:stream/consumers";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Message } from "#kernel/completion/request.ts";
import type { Files } from "#plugins/files/service.ts";

export interface PictureOptions {
  readonly files: Pick<Files, "load" | "open">;
  /** ENABLE_IMAGE_CONTENT_TYPE_EXTENSION_FALLBACK. */
  readonly byExtension: boolean;
}

/** Larger pictures are no picture for a model, and would fill the memory. */
const maxBytes = 20 * 1024 * 1024;

/**
 * The messages with pictures that are files of this platform put in as data URIs: an upstream cannot fetch them
 * (contract §3.2, step 4). A file the caller may not read, or that is gone, is left out.
 */
export async function inlinePictures(
  messages: readonly Message[],
  principal: Principal,
  options: PictureOptions,
): Promise<Message[]> {
  return await Promise.all(
    messages.map(async (message) =>
      Array.isArray(message.content) && message.content.some((part) => fileIdOf(part) !== undefined)
        ? {
            ...message,
            content: (
              await Promise.all(message.content.map((part) => inline(part, principal, options)))
            ).flat(),
          }
        : message,
    ),
  );
}

type Part = Exclude<NonNullable<Message["content"]>, string>[number];

async function inline(part: Part, principal: Principal, options: PictureOptions): Promise<Part[]> {
  const id = fileIdOf(part);
  if (id === undefined) {
    return [part];
  }
  const url = await toDataUri(id, principal, options);
  return url === undefined ? [] : [{ ...part, image_url: { ...(part["image_url"] as object), url } }];
}

/** The file that a picture's address names: `/api/v1/files/<id>/content` of this platform, or the id alone. */
function fileIdOf(part: Part): string | undefined {
  const url = (part["image_url"] as { url?: unknown } | null | undefined)?.url;
  if (part.type !== "image_url" || typeof url !== "string") {
    return undefined;
  }
  return /^(?:\/api\/v1\/files\/)?([0-9a-f]{8}-[0-9a-f-]{27})(?:\/content)?$/i.exec(url)?.[1];
}

async function toDataUri(
  id: string,
  principal: Principal,
  { files, byExtension }: PictureOptions,
): Promise<string | undefined> {
  try {
    const file = await files.load(principal, id, "read");
    const type = toPictureType(file.meta["content_type"], byExtension ? file.filename : "");
    const size = file.meta["size"];
    if (type === undefined || (typeof size === "number" && size > maxBytes)) {
      return undefined;
    }
    const bytes = await buffer(await files.open(file));
    return `data:${type};base64,${bytes.toString("base64")}`;
  } catch (error) {
    if (error instanceof AppError && (error.code === "not_found" || error.code === "forbidden")) {
      return undefined;
    }
    throw error;
  }
}

/** Types by extension, where a file was stored without a telling one. */
const extensions: Readonly<Record<string, string>> = {
  webp: "image/webp",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  bmp: "image/bmp",
  tiff: "image/tiff",
  ico: "image/x-icon",
  heic: "image/heic",
  heif: "image/heif",
  avif: "image/avif",
};

/** The picture's type; by its name where the stored type says nothing and a name is given. */
export function toPictureType(contentType: unknown, filename: string): string | undefined {
  if (typeof contentType === "string" && contentType.startsWith("image/")) {
    return contentType;
  }
  return extensions[/\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? ""];
}
