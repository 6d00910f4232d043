import { imageSize } from "image-size";
import { countFrames } from "./picture-frames.ts";
import type { PictureType } from "./picture-type.ts";

/** Core API, Limits: browsers decode a picture of more pixels into more than 100 MB of memory. */
const maxPixels = 25_000_000;
/** Browsers keep decoding an animation; more frames than this are refused. */
const maxFrames = 1_000;

/** The problem of a picture whose structure is broken. */
export const unreadable = "cannot be read";

/**
 * Says why a picture cannot be taken, from its structure alone: no pixel of it is decoded. The answer goes on after the
 * name of the picture, such as "has more than 25 megapixels"; undefined for none.
 */
export function findPictureProblem(bytes: Buffer, type: PictureType): string | undefined {
  const size = measurePicture(bytes);
  if (size === undefined || !(size.width > 0) || !(size.height > 0)) {
    return unreadable;
  }
  if (size.width * size.height > maxPixels) {
    return "has more than 25 megapixels";
  }
  const frames = countFrames(bytes, type);
  if (frames === undefined || frames < 1) {
    return unreadable;
  }
  return frames > maxFrames ? `has more than ${maxFrames} frames` : undefined;
}

/** The size that the header claims; undefined when there is none. */
function measurePicture(bytes: Buffer): { width: number; height: number } | undefined {
  try {
    return imageSize(bytes);
  } catch {
    return undefined;
  }
}
