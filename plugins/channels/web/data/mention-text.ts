const mention = /<(@U|@M|#C):([^|<>\n]{1,256})(?:\|([^<>\n]{0,256}))?>/g;
const special = /[\\`*_[\]()#!|~]/g;

/** The text with its mentions in the markup that people see: names in bold, channels as links. */
export function toMarkdown(text: string): string {
  return text.replaceAll(mention, (_all, kind: string, id: string, label?: string) => {
    const name = (label || id).replaceAll(special, String.raw`\$&`);
    return kind === "#C" ? `[\\#${name}](/channels/${encodeURIComponent(id)})` : `**@${name}**`;
  });
}

/** The text as one line without markup of mentions. */
export function toPlainText(text: string): string {
  return text.replaceAll(
    mention,
    (_all, kind: string, id: string, label?: string) => (kind === "#C" ? "#" : "@") + (label || id),
  );
}

/** The mark of a mention; what would end it is taken out of the name. */
export function toMention(kind: "U" | "M" | "C", id: string, name: string): string {
  return `<${kind === "C" ? "#" : "@"}${kind}:${id}|${name.replaceAll(/[<>|\n]/g, " ")}>`;
}

/** What is typed behind `@` or `#` at the caret; undefined where no list is wanted. */
export function findTrigger(
  text: string,
  caret: number,
): { readonly kind: "@" | "#"; readonly query: string; readonly start: number } | undefined {
  const found = /(?:^|\s)([@#])([^\s@#<>]{0,40})$/u.exec(text.slice(0, caret));
  if (!found) {
    return undefined;
  }
  const query = found[2] as string;
  return { kind: found[1] as "@" | "#", query, start: caret - query.length - 1 };
}
