import type { Attachment } from "#plugins/web/kit/web.ts";

/** Where the picture of an attachment is; undefined for what is no picture, or lies on another host. */
export function imageAddress(file: Attachment): string | undefined {
  const { type, id, url, content_type: contentType } = file;
  const isImage = type === "image" || (typeof contentType === "string" && contentType.startsWith("image/"));
  if (!isImage) {
    return undefined;
  }
  if (
    typeof url === "string" &&
    (url.startsWith("data:image/") || (url.startsWith("/") && !url.startsWith("//")))
  ) {
    return url;
  }
  return id && !String(url ?? "").includes("//")
    ? `/api/v1/files/${encodeURIComponent(id)}/content`
    : undefined;
}
