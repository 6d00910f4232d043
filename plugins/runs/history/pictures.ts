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
/** Characters of all pictures together, each as often as it is shown: more than any model takes. */
const mostCharacters = 100 * 1024 * 1024;
const atOnce = 4;

/**
 * The messages with pictures that are files of this platform put in as data URIs: an upstream cannot fetch them
 * (contract §3.2, step 4). A file the caller may not read, or that is gone, is left out. The very same list where none is.
 * Throws `invalid` for more than fits into a request.
 */
export async function inlinePictures<M extends readonly Message[]>(
  messages: M,
  principal: Principal,
  options: PictureOptions,
): Promise<M | Message[]> {
  const shown = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => fileIdOf(part) ?? []) : [],
  );
  if (shown.length === 0) {
    return messages;
  }
  const uris = await readPictures(shown, principal, options);
  const inline = (part: Part): Part[] => {
    const id = fileIdOf(part);
    if (id === undefined) {
      return [part];
    }
    const url = uris.get(id);
    return url === undefined ? [] : [{ ...part, image_url: { ...(part["image_url"] as object), url } }];
  };
  return messages.map((message) =>
    Array.isArray(message.content) && message.content.some((part) => fileIdOf(part) !== undefined)
      ? { ...message, content: message.content.flatMap(inline) }
      : message,
  );
}

type Part = Exclude<NonNullable<Message["content"]>, string>[number];

/** Reads each file once, a few at a time. */
async function readPictures(
  shown: readonly string[],
  principal: Principal,
  options: PictureOptions,
): Promise<ReadonlyMap<string, string | undefined>> {
  const uris = new Map<string, string | undefined>();
  const ids = [...new Set(shown)].values();
  let room = mostCharacters;
  const read = async () => {
    for (const id of ids) {
      const uri = room > 0 ? await toDataUri(id, principal, options) : undefined;
      room -= (uri?.length ?? 0) * shown.filter((each) => each === id).length;
      uris.set(id, uri);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  if (room < 0) {
    throw new AppError(
      "invalid",
      `The pictures of this conversation take more than ${mostCharacters / 2 ** 20} MB together, in base64. Show fewer.`,
    );
  }
  return uris;
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
