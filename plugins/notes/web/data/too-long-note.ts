import { limitText } from "#plugins/web/kit/length-limit.ts";
import { maxMarkdown } from "../text/limit.ts";

/** Says that a note of so many characters is too long; undefined while it fits. */
export const tooLongNote = (count: number): string | undefined =>
  count > maxMarkdown ? limitText(maxMarkdown, count) : undefined;
