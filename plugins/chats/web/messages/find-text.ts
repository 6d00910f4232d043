import { textOf } from "../data/reply.ts";
import type { ChatMessage } from "../data/types.ts";
import { splitFences } from "./fences.ts";

/** Number of hits of a text in one message of the shown branch. */
export interface MessageHits {
  readonly id: string;
  readonly count: number;
}

/** Nobody steps through more of them in one message. */
const mostInMessage = 1000;

/** Finds a text as it is typed, in capitals or not; undefined for none. */
export function toPattern(query: string): RegExp | undefined {
  const words = query.trim();
  return words === ""
    ? undefined
    : new RegExp(
        words.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`).replaceAll(/\s+/g, String.raw`\s+`),
        "giu",
      );
}

/** Messages that hold the text, in their order. */
export function findHits(messages: readonly ChatMessage[], pattern: RegExp): readonly MessageHits[] {
  return messages.flatMap((message) => {
    const count = countHits(message, pattern);
    return count === 0 ? [] : [{ id: message.id, count }];
  });
}

/** What is shown decides; a text that only the source holds is found all the same. */
function countHits(message: ChatMessage, pattern: RegExp): number {
  return (
    countIn(shownText(message), pattern) || (message.role === "user" ? 0 : countIn(textOf(message), pattern))
  );
}

function countIn(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _hit of text.matchAll(pattern)) {
    count += 1;
    if (count === mostInMessage) {
      break;
    }
  }
  return count;
}

const texts = new WeakMap<ChatMessage, string>();

/** A message about as the page shows it: without the marks of its markdown. Kept until the message changes. */
function shownText(message: ChatMessage): string {
  const known = texts.get(message);
  if (known !== undefined) {
    return known;
  }
  const text = message.role === "user" ? message.content : withoutMarks(textOf(message));
  texts.set(message, text);
  return text;
}

/** Code keeps every sign; elsewhere go the marks of headings, quotes, lists, emphasis and links. */
export const withoutMarks = (markdown: string): string =>
  splitFences(markdown)
    .flatMap(({ isCode, lines }) => (isCode ? lines : lines.map(withoutInlineMarks)))
    .join("\n");

const withoutInlineMarks = (line: string): string =>
  line
    .replace(/^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)/, "")
    .replaceAll(/!?\[([^[\]]{0,500})\]\([^()\s]{0,2000}\)/g, "$1")
    .replaceAll(/\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|`/g, "")
    .replaceAll(/(?<![\p{L}\p{N}_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu, "");
