import { expect, it } from "vitest";
import { CodeReader, type CodePiece, toPlainCode } from "./code-reader.ts";

const read = (text: string, size: number): CodePiece[] => {
  const reader = new CodeReader();
  const pieces = (text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).flatMap((one) => reader.push(one));
  return join([...pieces, ...reader.end()]);
};

function join(pieces: readonly CodePiece[]): CodePiece[] {
  const joined: CodePiece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last && "text" in piece && last.kind === piece.kind) {
      joined[joined.length - 1] = { kind: piece.kind, text: (last as { text: string }).text + piece.text };
    } else {
      joined.push(piece);
    }
  }
  return joined;
}

const block = 'I count.\n<code_interpreter type="code" lang="python">\nprint(1 < 2)\n</code_interpreter>Then';

it.each([1, 2, 7, 1000])("finds code in pieces of %i characters", (size) => {
  expect(read(block, size)).toEqual([
    { kind: "text", text: "I count.\n" },
    { kind: "open", lang: "python" },
    { kind: "code", text: "\nprint(1 < 2)\n" },
    { kind: "close" },
    { kind: "text", text: "Then" },
  ]);
  for (const text of [
    "a < b",
    "<code_interpreters>x",
    "Write `<code_interpreter>` so",
    "<code_inter",
    opening,
  ]) {
    expect(read(text, size)).toEqual([{ kind: "text", text }]);
  }
  expect(read("<code_interpreter>x = 1", size)).toEqual([
    { kind: "open", lang: "python" },
    { kind: "code", text: "x = 1" },
  ]);
});

const opening = `<code_interpreter ${"a".repeat(400)}>`;

it.each([
  ["\nx = 1\n", "x = 1"],
  ["```python\nx = 1\nx\n```", "x = 1\nx"],
  ["  ```\nx\n", "x"],
  ["`x`", "`x`"],
])("%j runs as %j", (text, code) => {
  expect(toPlainCode(text)).toBe(code);
});
