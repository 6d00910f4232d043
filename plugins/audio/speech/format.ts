import { AppError } from "#kernel/errors.ts";
import { findContainer, toContentType } from "../container.ts";

/** Formats whose pieces play one behind the other in one stream: each of them is a row of frames without a table. */
export function isJoinableFormat(format: string): boolean {
  return /^(mp3|aac|pcm)$/i.test(format);
}

/**
 * The media type of an engine's sound by its first bytes. Raw samples have no mark, so the engine's word counts for
 * them. Throws `upstream` for pages and other texts.
 */
export function toSoundType(head: Uint8Array, said: string): string {
  const container = findContainer(head);
  if (container !== undefined) {
    return toContentType(container, said);
  }
  if (/^audio\/(pcm|l16|basic|raw|x-raw)/i.test(said)) {
    return said;
  }
  throw new AppError(
    "upstream",
    "The speech engine answered something that is no sound. Is its address right?",
  );
}
