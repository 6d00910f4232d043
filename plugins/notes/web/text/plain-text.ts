const rules: readonly (readonly [RegExp, string])[] = [
  [/^[ \t]*(?:```|~~~).*$\n?/gm, ""],
  [/^(?=[^\n]*--)[ \t|:-]+$\n?/gm, ""],
  [/^[ \t]{0,3}(?:[-*_][ \t]*){3,}$\n?/gm, ""],
  [/^[ \t]{0,3}#{1,6}[ \t]+/gm, ""],
  [/^[ \t]{0,3}(?:>[ \t]?)+/gm, ""],
  [/^([ \t]*)[-*+][ \t]+\[x\][ \t]+/gim, "$1☑ "],
  [/^([ \t]*)[-*+][ \t]+\[ \][ \t]+/gm, "$1☐ "],
  [/^([ \t]*)[-*+][ \t]+/gm, "$1• "],
  [/!?\[([^[\]\n]{0,200})\]\([^()\n]{0,400}\)/g, "$1"],
  [/(\*\*|__|~~)(?=\S)([^\n]*?\S)\1/g, "$2"],
  [/(?<![\p{L}\p{N}*_])([*_])(?=\S)([^\n*_]*?\S)\1(?![\p{L}\p{N}*_])/gu, "$2"],
  [/`{1,3}([^`\n]{1,400})`{1,3}/g, "$1"],
  [/^[ \t]*\|(.*)\|[ \t]*$/gm, "$1"],
  [/\n{2,}/g, "\n"],
];

const privateUse = 0xe000;

/** The beginning of a Markdown text without its marks, for lists and search results. */
export function toPlainText(markdown: string): string {
  // A mark that is escaped is a character: it stands apart, in a range for private use, until the others are gone.
  const apart = markdown.replaceAll(/\\([\\`*_{}[\]()#+\-.!~>|])/g, (_mark, sign: string) =>
    String.fromCharCode(privateUse + sign.charCodeAt(0)),
  );
  const plain = rules.reduce((text, [mark, instead]) => text.replaceAll(mark, instead), apart);
  return plain
    .replaceAll(/[\ue000-\ue07f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - privateUse))
    .trim();
}
