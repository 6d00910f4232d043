import { parentPort } from "node:worker_threads";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

// A page of the web may be built to keep its reader busy: here it blocks this thread alone, which can be ended.

/** One page to read. */
export interface ReadRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** Where it was found; links are made whole with it. */
  readonly url: string;
  /** Of its Content-Type; the page's own word counts where it has none. */
  readonly charset: string | undefined;
}

export interface ReadAnswer {
  readonly id: number;
  readonly title?: string;
  /** Markdown. */
  readonly content?: string;
  readonly isBroken?: true;
}

const mostElements = 60_000;

const markdown = new TurndownService({
  headingStyle: "atx",
  codeBlockStyle: "fenced",
  bulletListMarker: "-",
});
const unread = "title script style noscript iframe img picture svg form button".split(" ");
markdown.addRule("unread", {
  filter: ({ nodeName }) => unread.includes(nodeName.toLowerCase()),
  replacement: () => "",
});
// Escaped marks would be noise: nobody renders this text.
markdown.escape = (text) => text;

const port = parentPort;
port?.on("message", (request: ReadRequest) => {
  let answer: ReadAnswer;
  try {
    answer = { id: request.id, ...read(request) };
  } catch {
    answer = { id: request.id, isBroken: true };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  port.postMessage(answer);
});

function read({ bytes, url, charset }: ReadRequest): { title: string; content: string } {
  const html = decode(bytes, charset);
  const document = parse(html);
  const title = toTitle(document);
  makeLinksWhole(document, url);
  const article = new Readability(document, { maxElemsToParse: mostElements }).parse();
  const content = article?.content ? toMarkdown(article.content) : "";
  // Pages without an article, such as lists and small ones, are taken as they are.
  return { title: title || (article?.title ?? "").trim(), content: content || toMarkdown(bodyOf(html, url)) };
}

/** Readability works on a document that its reader can throw away, so what it left is not looked at again. */
function bodyOf(html: string, url: string): string {
  const document = parse(html);
  makeLinksWhole(document, url);
  document.querySelectorAll("nav, header, footer, aside, template").forEach((element) => element.remove());
  return document.body?.innerHTML ?? "";
}

/** A piece without `html` and `body`, such as plain words, is put into a document. */
function parse(html: string): Document {
  const isWhole = /<(?:html|body)[\s>]/i.test(html);
  const whole = isWhole ? html : `<!doctype html><html><body>${html}</body></html>`;
  return parseHTML(whole).document as unknown as Document;
}

function toTitle(document: Document): string {
  const named =
    document.querySelector('meta[property="og:title"]')?.getAttribute("content") ??
    document.querySelector("title")?.textContent ??
    "";
  return named.replaceAll(/\s+/g, " ").trim().slice(0, 300);
}

function makeLinksWhole(document: Document, base: string): void {
  document.querySelectorAll("a[href]").forEach((link) => {
    const whole = URL.parse(link.getAttribute("href") ?? "", base);
    if (whole && /^https?:$/.test(whole.protocol)) {
      link.setAttribute("href", whole.href);
    } else {
      link.removeAttribute("href");
    }
  });
}

function toMarkdown(html: string): string {
  const body = parse(html).body as unknown as TurndownService.Node;
  return markdown
    .turndown(body)
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const declared = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,40})/i;

function decode(bytes: Uint8Array, charset: string | undefined): string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2_048)).toString(
    "latin1",
  );
  const name = charset ?? declared.exec(start)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(name).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
