import { expect, test } from "vitest";
import { firstCharacters } from "./first-characters.ts";

test("counts an emoji as one character and never cuts it in half", () => {
  expect(firstCharacters("🌊".repeat(300), 200)).toBe("🌊".repeat(200));
  expect(firstCharacters(`x${"🌊".repeat(300)}`, 200)).toBe(`x${"🌊".repeat(199)}`);
  expect(firstCharacters("mill", 200)).toBe("mill");
});
