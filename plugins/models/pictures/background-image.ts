import { AppError } from "#kernel/errors.ts";
import { findPictureProblem } from "#kernel/picture-limits.ts";
import { type PictureType, sniffPicture } from "#kernel/picture-type.ts";

/** Core API, Limits: what an imported background may be. */
export const maxBackgroundBytes = 5 * 1024 * 1024;

/** A picture whose claims were held against its bytes; no pixel of it was decoded. */
export interface BackgroundImage {
  readonly type: PictureType;
  readonly bytes: Buffer;
}

const dataUri = /^data:image\/(png|jpe?g|webp|gif);base64,/i;

/**
 * Reads `background_image_data`. Throws `invalid` and `too_large` naming the model: larger than 5 MiB or 25
 * megapixels, another format than PNG, JPEG, WebP or GIF, or bytes that are not what the type says.
 */
export function readBackgroundImage(data: string, modelId: string): BackgroundImage {
  const refuse = (problem: string) =>
    new AppError("invalid", `The background image of the model "${modelId}" ${problem}.`);
  const [head = "", name = ""] = dataUri.exec(data) ?? [];
  if (head === "") {
    throw refuse("must be base64 data of a PNG, JPEG, WebP or GIF image");
  }
  // Four signs of base64 are three bytes: what is too large is refused before it is decoded.
  if (((data.length - head.length) / 4) * 3 > maxBackgroundBytes + 2) {
    throw tooLarge(modelId);
  }
  const text = data.slice(head.length);
  if (text === "" || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw refuse("is no valid base64");
  }
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > maxBackgroundBytes) {
    throw tooLarge(modelId);
  }
  const type = sniffPicture(bytes);
  if (type === undefined || type !== name.toLowerCase().replace("jpg", "jpeg")) {
    throw refuse("is not what its type says");
  }
  const problem = findPictureProblem(bytes, type);
  if (problem !== undefined) {
    throw refuse(problem);
  }
  return { type, bytes };
}

function tooLarge(modelId: string): AppError {
  return new AppError("too_large", `The background image of the model "${modelId}" is larger than 5 MiB.`);
}
