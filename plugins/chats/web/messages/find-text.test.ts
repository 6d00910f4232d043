import { expect, test } from "vitest";
import type { ChatMessage } from "../data/types.ts";
import { findHits, toPattern, withoutMarks } from "./find-text.ts";

const message = (id: string, content: string, role: ChatMessage["role"] = "assistant"): ChatMessage => ({
  id,
  role,
  content,
  parentId: null,
  childrenIds: [],
  timestamp: 1,
});
const countsOf = (query: string, ...messages: ChatMessage[]) =>
  findHits(messages, toPattern(query) as RegExp).map(({ id, count }) => [id, count]);

test("finds what is shown, in capitals or not, however its words are set apart", () => {
  expect(
    countsOf("mill wheel", message("a", "A **mill** wheel.\nMILL\nwheel"), message("b", "mills")),
  ).toEqual([["a", 2]]);
  expect(countsOf("is_it *", message("a", "`is_it *` and is_it \\*"))).toEqual([["a", 1]]);
  expect(countsOf("(a|b)+$", message("a", "(a|b)+$ and aab"))).toEqual([["a", 1]]);
  expect(toPattern("  ")).toBeUndefined();
});

test("finds addresses and marks that only the source holds, but counts what is shown first", () => {
  const link = message("a", "See [the mill](https://mill.test/wheel).");
  expect(countsOf("mill", link)).toEqual([["a", 1]]);
  expect(countsOf("mill.test", link)).toEqual([["a", 1]]);
  expect(countsOf("**", message("b", "**bold**"))).toEqual([["b", 2]]);
});

test("reads own messages as they were written, and replies by their output", () => {
  expect(countsOf("**a**", message("a", "**a**", "user"))).toEqual([["a", 1]]);
  const output = [
    { type: "reasoning", id: "r", content: [{ type: "output_text", text: "wheel" }] },
    { type: "message", id: "m", content: [{ type: "output_text", text: "a wheel, a wheel" }] },
  ];
  expect(countsOf("wheel", { ...message("a", ""), output })).toEqual([["a", 2]]);
});

test("takes marks out of prose and leaves code alone", () => {
  const markdown =
    "# Head\n> *quoted* ~~gone~~\n- `one` _two_ snake_case 2 * 3\n```js\na = `*b*`; // _c_\n```\n![x](y) [z](w)";
  expect(withoutMarks(markdown)).toBe("Head\nquoted gone\none two snake_case 2 * 3\na = `*b*`; // _c_\nx z");
});
