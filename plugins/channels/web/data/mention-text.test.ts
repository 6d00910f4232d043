import { expect, it } from "vitest";
import { findTrigger, fromDraft, toDraft, toMarkdown, toMention, toPlainText } from "./mention-text.ts";

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

it("has names in the place of marks while a message is written, and the marks again when it is sent", () => {
  const text = "<@U:u1|Ann> and <@U:u2|Anna> ask <@M:a/b:c|Al*pha (new)> in <#C:c1|news>";
  const draft = toDraft(text);
  expect(draft.text).toBe("@Ann and @Anna ask @Al*pha (new) in #news");
  expect(fromDraft(draft.text, draft.mentions)).toBe(text);
  expect(fromDraft("Hello @Anna, @Annabel and ann", draft.mentions)).toBe(
    "Hello <@U:u2|Anna>, @Annabel and ann",
  );
  const twins = toDraft("<@U:u1|Ann> <@U:u2|Ann>");
  expect(fromDraft("First @Ann, then @Ann", twins.mentions)).toBe("First <@U:u1|Ann>, then <@U:u2|Ann>");
  expect(fromDraft("nobody", [])).toBe("nobody");
});
