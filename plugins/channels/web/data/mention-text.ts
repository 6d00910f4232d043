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

/** A mention as people write it, and the mark that is sent in its place. */
export interface Mention {
  readonly shown: string;
  readonly mark: string;
}

export const toWritten = (mark: string): Mention => ({ shown: toPlainText(mark), mark });

/** A stored text for a field: names in the place of marks, and which mark each of them stands for. */
export function toDraft(text: string): { readonly text: string; readonly mentions: readonly Mention[] } {
  return { text: toPlainText(text), mentions: [...text.matchAll(mention)].map(([mark]) => toWritten(mark)) };
}

/** The text to be sent. Of two people with one name, the first place is the first one's. */
export function fromDraft(text: string, mentions: readonly Mention[]): string {
  const byName = Map.groupBy(mentions, ({ shown }) => shown);
  const names = [...byName.keys()].toSorted((a, b) => b.length - a.length);
  if (names.length === 0) {
    return text;
  }
  const written = new RegExp(
    `(?:${names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join("|")})(?![\\p{L}\\p{N}_])`,
    "gu",
  );
  return text.replaceAll(written, (name) => {
    const marks = byName.get(name) ?? [];
    return (marks.length > 1 ? marks.shift() : marks[0])?.mark ?? name;
  });
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
