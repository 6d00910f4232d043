/** What a tool or a function shows in a reply: a document of its own, or an address. */
export type Embed =
  | { readonly kind: "document"; readonly html: string }
  | { readonly kind: "link"; readonly address: string; readonly host: string };

/** Addresses are offered as links: frames load nothing of other hosts. */
export function readEmbed(text: string): Embed | undefined {
  const trimmed = text.trim();
  if (trimmed === "") {
    return undefined;
  }
  const isAddress = /^(?:https?:\/\/|\/(?!\/))\S*$/i.test(trimmed);
  if (!isAddress) {
    return { kind: "document", html: text };
  }
  const url = URL.parse(trimmed, globalThis.location?.href ?? "http://localhost");
  return url === null ? undefined : { kind: "link", address: url.href, host: url.host };
}

const tellHeight =
  '<script>(()=>{const tell=()=>parent.postMessage({type:"iframe:height",height:document.documentElement.offsetHeight},"*");' +
  'new ResizeObserver(tell).observe(document.documentElement);addEventListener("load",tell);tell()})()</script>';

/**
 * The document with a script that tells the page around it how high it is: a frame without an origin cannot be measured
 * from outside. The name of the message is the one that documents written for such frames send themselves. Without its
 * declaration a document is as high as its frame.
 */
export const withHeight = (html: string): string =>
  `${/^\s*<!doctype/i.test(html) ? "" : "<!doctype html>"}${html}\n${tellHeight}`;

const lowest = 40;

/** The height that a frame asks for, within what a page can spare for it; undefined for any other message. */
export function toHeight(data: unknown, most: number): number | undefined {
  const { type, height } = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
  return type === "iframe:height" && typeof height === "number" && Number.isFinite(height)
    ? Math.min(most, Math.max(lowest, Math.ceil(height)))
    : undefined;
}
