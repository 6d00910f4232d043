import { AppError } from "#kernel/errors.ts";
import type { Picture } from "./service.ts";

const marks: readonly (readonly [string, (bytes: Uint8Array) => boolean])[] = [
  ["image/png", (bytes) => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47])],
  ["image/jpeg", (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff])],
  ["image/gif", (bytes) => startsWith(bytes, [0x47, 0x49, 0x46, 0x38])],
  [
    "image/webp",
    (bytes) =>
      startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes.subarray(8), [0x57, 0x45, 0x42, 0x50]),
  ],
];

/** The picture that bytes are, by how they begin; undefined for anything else: what others say of a type is not trusted. */
export function toPicture(bytes: Uint8Array): Picture | undefined {
  const contentType = marks.find(([, isIt]) => isIt(bytes))?.[0];
  return contentType === undefined ? undefined : { contentType, bytes };
}

/** The picture in base64 text, with or without a `data:` head. Throws `upstream` in the engine's name. */
export function fromBase64(text: unknown, title: string): Picture {
  const data =
    typeof text === "string" ? text.slice(text.startsWith("data:") ? text.indexOf(",") + 1 : 0) : "";
  return requirePicture(Buffer.from(data, "base64"), title);
}

/** Throws `upstream` in the engine's name for bytes that are no picture. */
export function requirePicture(bytes: Uint8Array, title: string): Picture {
  const picture = toPicture(bytes);
  if (picture === undefined) {
    throw new AppError("upstream", `${title} answered something that is no PNG, JPEG, GIF or WebP picture.`);
  }
  return picture;
}

/** The ending of a picture's file name. */
export function toEnding({ contentType }: Picture): string {
  return contentType === "image/jpeg" ? "jpg" : contentType.slice("image/".length);
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}
