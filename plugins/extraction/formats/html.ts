import TurndownService from "turndown";
import { boundHtmlParser } from "./bounds.ts";
import { decodeText } from "./decode.ts";
import type { DocumentReader } from "./reading.ts";

boundHtmlParser();

/** HTML with its text kept as Markdown: headings, lists, tables and code keep their shape, links their words. */
export const readHtml: DocumentReader = ({ bytes }, { builder }) => {
  builder.add(htmlToMarkdown(decodeHtml(bytes)));
};

export function decodeHtml(bytes: Uint8Array): string {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  return decodeText(bytes, /charset=["']?([\w-]{1,40})/i.exec(head)?.[1]);
}

export function htmlToMarkdown(html: string): string {
  return createService(/<h1[\s>]/i.test(html))
    .turndown(html)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const unread = ["script", "style", "template", "noscript", "iframe", "object", "button", "select"] as const;

function createService(hasHeading: boolean): TurndownService {
  const service = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    br: "",
  });
  // Backslashes before signs would keep quotes from being found again.
  service.escape = (text) => text;
  service.remove([...unread]);
  // A quote is found in the text as it reads, so marks within sentences are left out.
  service.addRule("words", { filter: ["a", "em", "i", "strong", "b"], replacement: (content) => content });
  service.addRule("items of lists", {
    filter: "li",
    replacement: (content, node) => {
      const list = node.parentNode as Element | null;
      const first = Number(list?.getAttribute?.("start") ?? 1);
      const at = Array.prototype.indexOf.call(list?.children ?? [], node);
      const mark = list?.nodeName === "OL" ? `${first + at}.` : "-";
      return `${mark} ${content.trim().replace(/\n/g, "\n  ")}${node.nextSibling ? "\n" : ""}`;
    },
  });
  service.addRule("names of pictures", {
    filter: "img",
    replacement: (_content, node) => (node as unknown as Element).getAttribute("alt")?.trim() ?? "",
  });
  service.addRule("title", {
    filter: "title",
    replacement: (content) => (hasHeading || content.trim() === "" ? "" : `\n\n# ${content.trim()}\n\n`),
  });
  service.addRule("cells", {
    filter: ["td", "th"],
    replacement: (content) => ` ${content.replace(/\s+/g, " ").trim()} |`,
  });
  service.addRule("rows", {
    filter: "tr",
    replacement: (content, node) =>
      `|${content}\n${isHead(node as unknown as Element) ? ruleBelow(content) : ""}`,
  });
  service.addRule("tables", {
    filter: (node) => ["TABLE", "THEAD", "TBODY", "TFOOT"].includes(node.nodeName),
    replacement: (content, node) =>
      node.nodeName === "TABLE" ? `\n\n${content.replace(/\n{2,}/g, "\n").trim()}\n\n` : content,
  });
  return service;
}

/** The first row of a table is its head, as Markdown wants one. */
function isHead(row: Element): boolean {
  const parent = row.parentNode;
  return row.previousSibling === null && (parent?.nodeName !== "TBODY" || parent.previousSibling === null);
}

function ruleBelow(content: string): string {
  const columns = Math.max(content.split("|").length - 1, 1);
  return `|${" --- |".repeat(columns)}\n`;
}
