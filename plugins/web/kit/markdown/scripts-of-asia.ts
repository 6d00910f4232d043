import { Lexer, type TokenizerObject, Tokenizer } from "marked";

/**
 * Scripts that are written without spaces between words. The common rules of emphasis want a space or a letter at marks
 * beside punctuation, so that `**重点：**请` would not be bold; see the amendment "CommonMark CJK-friendly".
 */
const letter = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}`;
/** Punctuation of these scripts and full-width forms. */
const wide = String.raw`\u3000-\u303f\uff00-\uffef`;
const asian = `[${letter}${wide}]`;
/** Punctuation that wants a space or another one on its outer side. */
const punctuation = String.raw`[[\p{P}\p{S}]--[~${wide}]]`;
const gap = String.raw`[\s${punctuation}]`;
const inWord = `[^${gap}]`;
const marks = "(\\*+)(?!\\*)";

// The groups are those of the library's own expressions: what closes, what opens, what may do both.
const closing = [
  String.raw`^[^_*]*?__[^_*]*?\*[^_*]*?(?=__)`,
  String.raw`[^*]+(?=[^*])`,
  String.raw`(?!\*)${punctuation}(\*+)(?=[\s]|$)`,
  `${inWord}${marks}(?=${gap}|$)`,
  String.raw`(?!\*)(?!${punctuation}\*+${asian})${gap}(\*+)(?=${inWord})`,
  String.raw`[\s]${marks}(?=${punctuation})`,
  String.raw`(?!\*)${punctuation}${marks}(?=${punctuation}|${asian})`,
  String.raw`${inWord}(\*+)(?=${inWord})`,
].join("|");
const opening = String.raw`^(?:\*+(?:((?!\*)${punctuation})|([^\s*]))?)|^_+(?:((?!_)${punctuation})|([^\s_]))?`;

// The library's rules are one object for all its lexers, and this folder is all that uses them.
Object.assign(Lexer.rules.inline.gfm, {
  emStrongLDelim: new RegExp(opening, "v"),
  emStrongRDelimAst: new RegExp(closing, "gv"),
  punctuation: new RegExp(String.raw`^((?![*_])[\s\p{P}\p{S}${asian}])`, "v"),
});

const wideMark = /[\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65“”‘’]/u;

/** A bare address ends at full-width punctuation, and at quotation marks. */
export const addressSyntax: TokenizerObject = {
  url(text) {
    const found = Tokenizer.prototype.url.call(this, text);
    const end = found ? found.raw.search(wideMark) : -1;
    return end < 0 ? found : Tokenizer.prototype.url.call(this, text.slice(0, end));
  },
};
