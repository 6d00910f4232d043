import { expect, test } from "vitest";
import { lastCode, splitFences } from "./fences.ts";

test("takes code apart from prose, whatever stands in it", () => {
  const text = "One\n```js\na\n~~~\n```not the end\n````\nTwo\n~~~\nb";
  expect(splitFences(text)).toEqual([
    { isCode: false, lines: ["One"] },
    { isCode: true, lines: ["a", "~~~", "```not the end"] },
    { isCode: false, lines: ["Two"] },
    { isCode: true, lines: ["b"] },
  ]);
});

test("gives the last code, set out as far as its fence was set in", () => {
  expect(lastCode("```\na\n```\n- then\n\n  ```sh\n  one\n    two\n three\n  ```\nEnd.")).toBe(
    "one\n  two\nthree",
  );
  expect(lastCode("No `code` here.")).toBeUndefined();
});
