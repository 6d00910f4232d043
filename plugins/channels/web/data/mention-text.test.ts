import { expect, it } from "vitest";
import { findTrigger, toMarkdown, toMention, toPlainText } from "./mention-text.ts";

it("shows mentions by their names, which bring no markup of their own", () => {
  const text = `${toMention("U", "u1", "Ann|<b>")} asks <@M:a/b:c|Al*pha> in <#C:c1|news_[x]> and <@U:u2>`;
  expect(toMarkdown(text)).toBe(
    String.raw`**@Ann  b ** asks **@Al\*pha** in [\#news\_\[x\]](/channels/c1) and **@u2**`,
  );
  expect(toPlainText(text)).toBe("@Ann  b  asks @Al*pha in #news_[x] and @u2");
});

it("opens a list behind @ and # at the beginning of a word alone", () => {
  expect(findTrigger("hello @an", 9)).toEqual({ kind: "@", query: "an", start: 6 });
  expect(findTrigger("#", 1)).toEqual({ kind: "#", query: "", start: 0 });
  expect(findTrigger("mail a@b", 8)).toBeUndefined();
  expect(findTrigger("@ann said", 9)).toBeUndefined();
});
