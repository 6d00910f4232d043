import type { GrammarState, HighlighterCore } from "shiki/core";

/** A piece of code and the class of its colour. */
export interface ColouredPiece {
  readonly text: string;
  readonly look: string;
}
export type ColouredLine = readonly ColouredPiece[];

/** Beyond this the expressions of a grammar would hold the page up. */
const longestLine = 2_000;
/** A line that takes longer is left in one colour; a busy machine alone must not change the colours of ordinary code. */
const longestTime = 5_000;

let making:
  | Promise<{ highlighter: HighlighterCore; load(language: string): Promise<string | undefined> }>
  | undefined;

/** Colours code piece by piece, each piece whole lines that follow the ones before. */
export type Colourer = (lines: string) => readonly ColouredLine[];

/** Makes a colourer; undefined for languages that nobody knows. */
export async function makeColourer(language: string): Promise<Colourer | undefined> {
  if (language === "") {
    return undefined;
  }
  try {
    const { highlighter, load } = await (making ??= make());
    const lang = await load(language);
    let state: GrammarState | undefined;
    return lang === undefined
      ? undefined
      : (lines) => {
          const given = {
            lang,
            theme: "css-variables",
            tokenizeMaxLineLength: longestLine,
            tokenizeTimeLimit: longestTime,
          };
          const { tokens, grammarState } = highlighter.codeToTokens(
            lines,
            state ? { ...given, grammarState: state } : given,
          );
          state = grammarState;
          return tokens.map((line) =>
            line.map(({ content, color }) => ({ text: content, look: toLook(color) })),
          );
        };
  } catch {
    return undefined;
  }
}

/** The grammar of each language is a file of its own and loaded when it is first used. */
async function make() {
  const [
    { createHighlighterCore, createCssVariablesTheme },
    { createJavaScriptRegexEngine },
    { bundledLanguages },
  ] = await Promise.all([import("shiki/core"), import("shiki/engine/javascript"), import("shiki/langs")]);
  const highlighter = await createHighlighterCore({
    themes: [createCssVariablesTheme({ name: "css-variables", variablePrefix: "--code-" })],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  return {
    highlighter,
    async load(language: string): Promise<string | undefined> {
      const grammar = bundledLanguages[language as keyof typeof bundledLanguages];
      if (!grammar) {
        return undefined;
      }
      await highlighter.loadLanguage(grammar);
      return language;
    },
  };
}

/** `var(--code-token-keyword)` → `code-keyword`: the policy of the page lets no style stand in the text. */
function toLook(color: string | undefined): string {
  const name = /--code-token-([a-z-]+)/.exec(color ?? "")?.[1];
  return name ? `code-${name}` : "";
}

const endings: Readonly<Record<string, string>> = {
  javascript: "js",
  typescript: "ts",
  python: "py",
  markdown: "md",
  shell: "sh",
  bash: "sh",
  rust: "rs",
  ruby: "rb",
  csharp: "cs",
  "c++": "cpp",
  plaintext: "txt",
  text: "txt",
  mermaid: "mmd",
};

/** What a block of code is called when it is saved. */
export const fileName = (language: string): string =>
  `code.${endings[language] ?? (/^[a-z0-9]{1,8}$/.test(language) ? language : "txt")}`;
