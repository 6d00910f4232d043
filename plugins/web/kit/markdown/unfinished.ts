import { finishFormula } from "./maths-syntax.ts";

/** Marks at the end that are only the beginning of something: a rule, a list, a heading, a fence. */
const begunLine = /^[ \t>]{0,40}(?:[-=]{1,40}|[*+#>]{1,40}|\d{1,9}[.)]?|`{1,2}|~{1,2})[ \t]{0,40}$/;

/**
 * A text that is still being written, with its last marks closed or left out, so that nothing changes its look when the
 * rest comes: `**bol` is bold at once, and half an address is not shown.
 */
export function finishMarks(text: string): string {
  if ((text.match(/^[ \t>]*(?:`{3,}|~{3,})/gm)?.length ?? 0) % 2 === 1) {
    return text;
  }
  const line = text.lastIndexOf("\n") + 1;
  const kept = begunLine.test(text.slice(line)) ? text.slice(0, line) : text;
  const start = kept.lastIndexOf("\n\n") + 1;
  const last = kept.slice(start);
  return kept.slice(0, start) + (finishFormula(last) ?? finishTable(finishInline(last)));
}

function finishInline(text: string): string {
  let rest = text
    .replace(/<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?$|<(?:\/|!-*)?$/i, "")
    .replace(/!\[[^\]\n]*(?:\](?:\([^)\s]*)?)?$/, "")
    .replace(/\[([^\][\n]*)\]\([^)\n]*$/, "$1")
    .replace(/\[(?!\d|\^)([^\][\n]*)$/, "$1");
  const code = blankCode(rest);
  const tick = /(`+)[^`]*$/.exec(code);
  if (tick) {
    return tick[0] === tick[1] ? rest.slice(0, tick.index) : rest + tick[1];
  }
  const open: string[] = [];
  for (const { 0: mark, index } of code.matchAll(/(?<!\\)(?:\*{1,3}|~~)/g)) {
    const [left = " ", right = " "] = [code[index - 1], code[index + mark.length]];
    const before = open.lastIndexOf(mark);
    if (before >= 0 && /\S/.test(left)) {
      open.length = before;
    } else if (index + mark.length === code.length) {
      rest = rest.slice(0, index);
    } else if (/\S/.test(right) && !/\w/.test(left)) {
      open.push(mark);
    }
  }
  return open.length === 0 ? rest : rest.trimEnd() + open.toReversed().join("");
}

/** Blanks code between runs of as many backticks, so that marks in it count for nothing. */
function blankCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)];
  const closing: number[] = [];
  const latest = new Map<number, number>();
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const length = runs[at]?.[0].length ?? 0;
    closing[at] = latest.get(length) ?? -1;
    latest.set(length, at);
  }
  let blanked = "";
  let from = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const [begin, end] = [runs[at], runs[closing[at] ?? -1]];
    if (begin && end) {
      const to = end.index + end[0].length;
      blanked += text.slice(from, begin.index) + " ".repeat(to - begin.index);
      from = to;
      at = closing[at] ?? at;
    }
  }
  return blanked + text.slice(from);
}

/** A table is one from its first line on. */
function finishTable(text: string): string {
  const found = /^(\n?)(\|[^\n]*[^\s|\n][^\n]*)(\n\|?[ :|-]*)?$/.exec(text);
  if (!found) {
    return text;
  }
  const head = (found[2] ?? "").trimEnd();
  const cells = head.replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/).length - 1;
  return `${found[1]}${head.endsWith("|") ? head : `${head} |`}\n|${"---|".repeat(cells)}`;
}
