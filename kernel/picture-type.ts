/** Kinds of pictures that browsers show and whose first bytes tell them apart. */
export type PictureType = "png" | "jpeg" | "webp" | "gif";

/** Type of a picture by its first bytes; undefined for any other content. */
export function sniffPicture(bytes: Buffer): PictureType | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) {
    return "png";
  }
  if (start.startsWith("\xff\xd8\xff")) {
    return "jpeg";
  }
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) {
    return "webp";
  }
  return /^GIF8[79]a/.test(start) ? "gif" : undefined;
}
