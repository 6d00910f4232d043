/** Lines of a text of markdown that stand inside one fence, or between two. */
export interface Section {
  readonly isCode: boolean;
  readonly lines: string[];
}

/** Takes the code of a text apart from its prose; the fences themselves belong to neither. */
export function splitFences(markdown: string): readonly Section[] {
  const sections: Section[] = [];
  let fence: { readonly mark: string; readonly indent: number } | undefined;
  let section: Section | undefined;
  for (const line of markdown.split("\n")) {
    const [, indent = "", mark = "", rest = ""] = /^([ \t]*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    const isEnd = fence !== undefined && mark.startsWith(fence.mark) && rest.trim() === "";
    if (isEnd || (fence === undefined && mark !== "")) {
      fence = isEnd ? undefined : { mark, indent: indent.length };
      section = undefined;
    } else {
      if (section === undefined) {
        section = { isCode: fence !== undefined, lines: [] };
        sections.push(section);
      }
      section.lines.push(fence === undefined ? line : withoutIndent(line, fence.indent));
    }
  }
  return sections;
}

/** The last code in a text of markdown; undefined where there is none. */
export const lastCode = (markdown: string): string | undefined =>
  splitFences(markdown)
    .findLast(({ isCode }) => isCode)
    ?.lines.join("\n");

/** Code in a list is set in as far as its fence. */
function withoutIndent(line: string, most: number): string {
  const own = line.length - line.trimStart().length;
  return line.slice(Math.min(own, most));
}
