import { describe, expect, it } from "vitest";
import { TagReader, toTags } from "./reasoning-tags.ts";

/** What a reader makes of a text, neighbours joined: `r:` reasoning, `t:` text. */
function read(pieces: readonly string[], wish?: unknown): string[] {
  const reader = new TagReader(toTags(wish));
  const found = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  const joined: string[] = [];
  let last = "";
  for (const { kind, text, tags } of found) {
    const mark = `${kind[0]}:`;
    if (mark === last && tags === undefined) {
      joined.push(`${joined.pop()}${text}`);
    } else {
      joined.push(mark + text);
    }
    last = mark;
  }
  return joined.filter((entry) => entry.length > 2);
}

const cases: [name: string, text: string, expected: string[], wish?: unknown][] = [
  ["plain text", "Hello", ["t:Hello"]],
  ["a tag at the start", "<think>a</think>b", ["r:a", "t:b"]],
  ["white space before the tag", " \n<think>a</think>b", ["r:a", "t:b"]],
  ["another known tag", "<Thought>a</Thought>b", ["r:a", "t:b"]],
  ["markers of another kind", "<|begin_of_thought|>a<|end_of_thought|>b", ["r:a", "t:b"]],
  ["a tag that is never closed", "<think>a and b", ["r:a and b"]],
  ["a tag in the middle of text", "see <think>a</think>", ["t:see <think>a</think>"]],
  ["a closing tag without an opener", "</think>b", ["t:</think>b"]],
  ["another tag's end inside", "<think>a</reason>b</think>c", ["r:a</reason>b", "t:c"]],
  ["two thoughts in a row", "<think>a</think><reason>b</reason>c", ["r:a", "r:b", "t:c"]],
  ["what only looks like a tag", "<thin air", ["t:<thin air"]],
  ["the beginning of a tag and nothing more", "<thi", ["t:<thi"]],
  ["a pair of the model's own", "[[a]]b", ["r:a", "t:b"], ["[[", "]]"]],
  ["no tags at all", "<think>a</think>b", ["t:<think>a</think>b"], false],
];

describe("reasoning is told from text", () => {
  it.each(cases)("%s, whole and sign by sign", (_name, text, expected, wish) => {
    expect(read([text], wish)).toEqual(expected);
    expect(read([...text], wish)).toEqual(expected);
  });

  it.each(cases)("%s, at every split", (_name, text, expected, wish) => {
    for (let at = 1; at < text.length; at += 1) {
      expect(read([text.slice(0, at), text.slice(at)], wish)).toEqual(expected);
    }
  });
});
