import { parseOrUndefined } from "#config/json-values.ts";
import { toLine, toPlain } from "./cut.ts";

// A model's answer is data: whatever it says, what comes out of here is short plain text of the expected shape.

const titleSize = 100;
const tagSize = 50;
const mostTags = 10;
/** Configuration document, follow-up suggestion template. */
const followUpSize = 400;
const mostFollowUps = 5;
const querySize = 400;
const mostQueries = 10;
const textSize = 10_000;

/** The title of `{title}`; undefined when there is none. */
export function parseTitle(answer: string): string | undefined {
  const title = readText(answer, "title");
  return (title && toLine(title, titleSize)) || undefined;
}

/** A title from what somebody wrote, where no model gives one. */
export function toTitle(text: string): string {
  return toLine(text, titleSize);
}

/** The names of `{tags: []}`, each once; `none` is no tag but the word for chats without one. */
export function parseTags(answer: string): string[] {
  const names = (readList(answer, "tags") ?? []).filter((name) => lengthOf(name) <= tagSize);
  return unique(names)
    .filter((name) => name.toLowerCase() !== "none")
    .slice(0, mostTags);
}

/** The suggestions of `{follow_ups: []}`: none over 400 characters, none twice, at most five. */
export function parseFollowUps(answer: string): string[] {
  const list = (readList(answer, "follow_ups") ?? []).filter((text) => lengthOf(text) <= followUpSize);
  return unique(list).slice(0, mostFollowUps);
}

/** The queries of `{queries: []}`, possibly none; undefined when the answer has no such list. */
export function parseQueries(answer: string): string[] | undefined {
  const list = readList(answer, "queries")?.filter((text) => lengthOf(text) <= querySize);
  return list && unique(list).slice(0, mostQueries);
}

/** A query from what somebody wrote, where no model gives one. */
export function toQuery(text: string): string {
  return toLine(text, querySize);
}

/** The description of `{prompt}`; undefined when there is none. */
export function parsePrompt(answer: string): string | undefined {
  const prompt = readText(answer, "prompt");
  return (prompt && toPlain(prompt, textSize).trim()) || undefined;
}

/** The continuation of a text, of `{text}`; its leading blank counts. */
export function parseCompletion(answer: string): string {
  return toPlain(readText(answer, "text") ?? "", textSize);
}

/** The first emoji of an answer; empty when there is none. */
export function parseEmoji(answer: string): string {
  return /\p{RGI_Emoji}/v.exec(answer.slice(0, textSize))?.[0] ?? "";
}

/** A text of which anything over the limit is dropped has to be seen beyond it. */
const lineSize = followUpSize * 2;

function readList(answer: string, key: string): string[] | undefined {
  const value = readKey(answer, key);
  if (!Array.isArray(value)) {
    return undefined;
  }
  return value
    .slice(0, 100)
    .filter((entry) => typeof entry === "string")
    .map((entry) => toLine(entry, lineSize))
    .filter((entry) => entry !== "");
}

function readText(answer: string, key: string): string | undefined {
  const value = readKey(answer, key);
  return typeof value === "string" ? value : undefined;
}

/**
 * A key of the object between the first brace and the last (contract §3.7). Models that think aloud leave braces
 * before it, so nearer beginnings are tried as well, as few as a bad answer may cost.
 */
function readKey(answer: string, key: string): unknown {
  const text = answer.slice(-maxAnswer);
  const end = text.lastIndexOf("}") + 1;
  let start = text.indexOf("{");
  for (let tries = 0; tries < mostTries && start >= 0 && start < end; tries += 1) {
    const value = parseOrUndefined(text.slice(start, end));
    if (typeof value === "object" && value !== null && Object.hasOwn(value, key)) {
      return (value as Record<string, unknown>)[key];
    }
    const before = tries === 0 ? end : start;
    start = before === 0 ? -1 : text.lastIndexOf("{", before - 1);
  }
  return undefined;
}

/** Longer than any answer that is of use. */
const maxAnswer = 100_000;
const mostTries = 20;

/** Each once, whatever its case. */
function unique(list: readonly string[]): string[] {
  const seen = new Set<string>();
  return list.filter((text) => {
    const key = text.toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
}

function lengthOf(text: string): number {
  return [...text].length;
}
