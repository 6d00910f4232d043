import { type MarkedOptions, Marked, type Token } from "marked";
import { escapeHtml } from "./escape.ts";
import { mathsSyntax } from "./maths-syntax.ts";
import { rebuildHtml } from "./raw-html.ts";
import { addressSyntax } from "./scripts-of-asia.ts";

/** What is added to the common syntax: maths, numbered citations and footnotes. */
const marked = new Marked(mathsSyntax, {
  gfm: true,
  tokenizer: {
    ...addressSyntax,
    /** One tilde is a range or "about": `10~20`. */
    del: (text) => (/^~~(?!~)/.test(text) ? false : undefined),
  },
  extensions: [
    {
      name: "footnote",
      level: "block",
      start: (text) => /^\[\^[\w-]{1,40}\]:/m.exec(text)?.index,
      tokenizer(text) {
        const found =
          /^\[\^([\w-]{1,40})\]:[ \t]*([^\n]{0,5000}(?:\n(?!\n|\[\^)[^\n]{1,5000}){0,50})(?:\n+|$)/.exec(
            text,
          );
        return found
          ? {
              type: "footnote",
              raw: found[0],
              name: found[1],
              tokens: this.lexer.inlineTokens(found[2] ?? ""),
            }
          : undefined;
      },
      renderer(token) {
        const name = escapeHtml(String(token["name"]));
        return `<p class="footnote" data-footnote="${name}"><sup>${name}</sup> ${this.parser.parseInline(token.tokens ?? [])}</p>`;
      },
    },
    {
      name: "reference",
      level: "inline",
      tokenizer(text) {
        const note = /^\[\^([\w-]{1,40})\](?!:)/.exec(text);
        if (note) {
          return { type: "reference", raw: note[0], note: note[1] };
        }
        const cited = /^\[(\d{1,3}(?:, ?\d{1,3}){0,9})\](?![([:])/.exec(text);
        return cited ? { type: "reference", raw: cited[0], cited: (cited[1] ?? "").split(/, ?/) } : undefined;
      },
      renderer(token) {
        const { note, cited } = token as { note?: string; cited?: readonly string[] };
        if (note !== undefined) {
          return `<sup><a href="#" data-note="${escapeHtml(note)}">${escapeHtml(note)}</a></sup>`;
        }
        // Numbers that no source has are shown as they were written.
        return `<span class="citations" data-cited="${(cited ?? []).join(" ")}">${escapeHtml(token.raw)}</span>`;
      },
    },
  ],
  renderer: {
    html: ({ text }) => rebuildHtml(text),
    checkbox: ({ checked }) => `<input type="checkbox" disabled${checked ? " checked" : ""}> `,
    listitem({ task, tokens }) {
      return `<li${task ? ' class="task"' : ""}>${this.parser.parse(tokens)}</li>\n`;
    },
    // A picture names its address; the sanitizer says which ones are loaded.
    image: ({ href, text }) => `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">`,
  },
});

export const options: MarkedOptions = marked.defaults;
export const toHtml = (tokens: readonly Token[]): string => marked.parser([...tokens], options);
