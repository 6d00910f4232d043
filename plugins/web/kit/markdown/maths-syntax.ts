import type { MarkedExtension, Tokens } from "marked";
import { escapeHtml } from "./escape.ts";

interface Formula {
  readonly raw: string;
  readonly tex: string;
  /** Limits stand above and below, fractions are as high as in a line of their own. */
  readonly isDisplay: boolean;
}

const lineOfItsOwn = /\n {0,3}(?:\$\$|\\\[)/;
const block =
  /^ {0,3}(?:\$\$((?:(?!\n[ \t]*\n|\$\$)(?:\\[^]|[^\\])){1,5000})\$\$|\\\[((?:(?!\n[ \t]*\n)[^]){1,5000}?)\\\])[ \t]*(?:\n|$)/;
const inline: readonly { readonly pattern: RegExp; readonly isDisplay: boolean }[] = [
  { pattern: /^\$\$(?!\$)((?:\\[^]|[^\\$]){1,1000})\$\$(?![\d$])/, isDisplay: true },
  { pattern: /^\\\[((?:(?!\\[[\]])[^]){1,1000})\\\](?![([:])/, isDisplay: true },
  { pattern: /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){1,500})(?<![\s/:])\$(?![\d$])/, isDisplay: false },
  { pattern: /^\\\(((?:(?!\\[()])[^]){1,1000})\\\)/, isDisplay: false },
];
/** A dollar sign behind these belongs to a currency or a name: `US$`, `5$`. Han and kana need no space before a formula. */
const nameBefore = /^[\p{Script=Latin}\p{N}$]/u;
const onlyWords = /^[\s\p{L}\p{P}]*$/u;
const word = /\p{L}{3}/u;
const amount = /^[\d.,]+[kKmMbB]?[\s–—/][^\\^_={}]*$/u;

// Each in two steps: one expression for both would take time that grows with the square of the text.
const isWords = (tex: string) => onlyWords.test(tex) && word.test(tex);
/** Such as `5 to 10 a day`. */
const isPrice = (tex: string) => amount.test(tex) && /\p{L}{2}/u.test(tex);

/** The formula that begins here, behind the character `before`. */
function findFormula(text: string, before: string | undefined): Formula | undefined {
  if (text.startsWith("$") && before !== undefined && nameBefore.test(before)) {
    return undefined;
  }
  for (const { pattern, isDisplay } of inline) {
    const [raw, tex] = pattern.exec(text) ?? [];
    if (raw !== undefined && tex !== undefined) {
      return isMathematics(raw, tex) ? { raw, tex: tex.trim(), isDisplay } : undefined;
    }
  }
  return undefined;
}

/** Tells formulas from sums of money, paths, variables of a shell, and brackets that were only escaped. */
function isMathematics(raw: string, tex: string): boolean {
  if (tex.trim() === "") {
    return false;
  }
  if (!raw.startsWith("$")) {
    return raw.startsWith("\\(") || !isWords(tex) || /[\\^_=]/.test(tex);
  }
  return !/^\/\p{L}/u.test(tex) && !isPrice(tex);
}

/** Hides formulas from the search for emphasis: the asterisks in them are signs of multiplication. */
function maskFormulas(text: string): string {
  let masked = text;
  for (let at = text.indexOf("$"); at >= 0; at = text.indexOf("$", at)) {
    const length = findFormula(text.slice(at), text[at - 1])?.raw.length;
    masked = length ? masked.slice(0, at) + "a".repeat(length) + masked.slice(at + length) : masked;
    at += length ?? 1;
  }
  return masked;
}

/** Stands before the end that `finishFormula` gave to a formula; what is drawn of it so far would jump about. */
const openMark = "\u2063";

/** Ends a formula in lines of its own that is still being written; undefined for a text without one. */
export function finishFormula(text: string): string | undefined {
  for (let from = 0; ;) {
    const found = /^ {0,3}(\$\$|\\\[)(?!\d)/m.exec(text.slice(from));
    if (!found) {
      return undefined;
    }
    const begin = from + found.index + found[0].length;
    const closing = found[1] === "$$" ? "$$" : "\\]";
    const end = text.indexOf(closing, begin);
    if (end < 0) {
      const tex = text.slice(begin).replace(/[$\\]$/, "");
      return tex.trim() === ""
        ? text.slice(0, from + found.index)
        : text.slice(0, begin) + tex + openMark + closing;
    }
    from = end + closing.length;
  }
}

/** A formula as its source, which `typeset` replaces once the typesetter is there. */
function toSource({ raw, tex, isDisplay }: Formula): string {
  const isOpen = tex.endsWith(openMark);
  const source = escapeHtml((isOpen ? raw.slice(0, raw.lastIndexOf(openMark)) : raw).trim());
  return isOpen
    ? `<code class="tex">${source}</code>`
    : `<code class="tex" data-tex="${escapeHtml(tex)}"${isDisplay ? ' data-display="true"' : ""}>${source}</code>`;
}

/** Formulas between dollar signs and behind backslashes, in lines of their own and within a line. */
export const mathsSyntax: MarkedExtension = {
  hooks: { emStrongMask: maskFormulas },
  extensions: [
    {
      name: "mathBlock",
      level: "block",
      // A paragraph is cut where a line begins and nowhere else: the lexer adds a line break at each cut.
      start(text) {
        const found = lineOfItsOwn.exec(text);
        return found ? found.index + 1 : undefined;
      },
      tokenizer(text) {
        const [raw, dollars, brackets] = block.exec(text) ?? [];
        const tex = (dollars ?? brackets ?? "").trim();
        return raw !== undefined && tex !== "" ? { type: "mathBlock", raw, tex, isDisplay: true } : undefined;
      },
      renderer: (token) => `<p class="maths">${toSource(token as Tokens.Generic & Formula)}</p>`,
    },
    {
      name: "mathInline",
      level: "inline",
      // Backslashes and brackets end a text anyway.
      start(text) {
        const at = text.indexOf("$");
        return at < 0 ? undefined : at;
      },
      tokenizer(text, tokens) {
        const formula = findFormula(text, tokens.at(-1)?.raw.at(-1));
        return formula && { type: "mathInline", ...formula };
      },
      renderer: (token) => toSource(token as Tokens.Generic & Formula),
    },
  ],
};
