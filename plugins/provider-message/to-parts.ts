import { AppError } from "#kernel/errors.ts";

/** A content block in the vendor's format. */
export interface Block {
  type: string;
  [key: string]: unknown;
}

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

/** Translates the content of a message; empty texts, which the vendor refuses, are left out. */
export function toBlocks(content: unknown, place: string): Block[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  const parts = (Array.isArray(content) ? content : []) as Part[];
  return parts.flatMap((part, at) => {
    const block = toBlock(part, `${place}.${at}`);
    return block ? [withCacheControl(block, part["cache_control"])] : [];
  });
}

/** Marks for the vendor's prompt cache stay where they were. */
export function withCacheControl<B extends object>(block: B, mark: unknown): B {
  return mark === undefined || mark === null ? block : { ...block, cache_control: mark };
}

function toBlock(part: Part, place: string): Block | undefined {
  switch (part.type) {
    case "text":
    case "input_text":
      return typeof part["text"] === "string" && part["text"] !== ""
        ? { type: "text", text: part["text"] }
        : undefined;
    case "image_url":
      return toImage(part["image_url"], `${place}.image_url`);
    case "file":
      return toDocument(part["file"], `${place}.file`);
    default:
      throw refuse(place, `parts of the type "${part.type.slice(0, 50)}"`);
  }
}

function toImage(image: unknown, place: string): Block {
  const url = typeof image === "string" ? image : (image as { url?: unknown } | undefined)?.url;
  const data = readDataUri(url);
  if (data?.isBase64) {
    return { type: "image", source: { type: "base64", media_type: data.mediaType, data: data.text } };
  }
  if (typeof url === "string" && /^https?:/i.test(url)) {
    return { type: "image", source: { type: "url", url } };
  }
  throw refuse(place, "images that are neither a base64 data URI nor an address");
}

function toDocument(file: unknown, place: string): Block {
  const { file_data: given, filename } = (file ?? {}) as { file_data?: unknown; filename?: unknown };
  const data = readDataUri(given);
  if (!data?.isBase64) {
    throw refuse(place, "files without base64 data");
  }
  const source = data.mediaType.startsWith("text/")
    ? { type: "text", media_type: "text/plain", data: Buffer.from(data.text, "base64").toString("utf8") }
    : { type: "base64", media_type: data.mediaType, data: data.text };
  return { type: "document", source, ...(typeof filename === "string" && filename && { title: filename }) };
}

function readDataUri(uri: unknown): { mediaType: string; text: string; isBase64: boolean } | undefined {
  // Long texts: only their beginning is looked at.
  const head = typeof uri === "string" ? /^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,/i.exec(uri) : null;
  return head === null
    ? undefined
    : {
        mediaType: head[1] ?? "",
        isBase64: head[2] !== undefined,
        text: (uri as string).slice(head[0].length),
      };
}

/** The error for a part that the vendor's format has no place for. */
export function refuse(place: string, what: string): AppError {
  return new AppError("invalid", `${place}: the provider of this model takes no ${what}.`);
}
