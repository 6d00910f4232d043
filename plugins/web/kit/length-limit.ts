import { formatNumber, t } from "./i18n/index.svelte.ts";

/**
 * Says that a text is longer than its field takes; undefined while it fits. The server counts as here: an emoji of one
 * sign is one character, for which browsers count two.
 */
export function tooLong(text: unknown, most: number | null | undefined): string | undefined {
  const isLong = typeof text === "string" && most && text.length > most;
  const count = isLong ? countCharacters(text) : 0;
  return most && count > most ? limitText(most, count) : undefined;
}

/** The sentence for `count` characters where a field takes `most`. */
export const limitText = (most: number, count: number): string =>
  t("Must be at most {most} characters; this has {count}.", {
    most: formatNumber(most),
    count: formatNumber(count),
  });

/** Surrogates come in pairs. */
const countCharacters = (text: string): number => [...text].length;
