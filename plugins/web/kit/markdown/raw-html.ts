import { escapeHtml } from "./escape.ts";

const tags = new Set(
  (
    "b i u s em strong small mark sub sup kbd del ins abbr cite q code pre br hr p div span blockquote h1 h2 h3 h4 h5 h6 " +
    "ul ol li dl dt dd details summary table thead tbody tr th td a img"
  ).split(" "),
);

/** Attributes that mean something here, and what they may say. */
const attributes: Readonly<Record<string, RegExp>> = {
  href: /^(https?:|mailto:|\/(?!\/)|#)/i,
  src: /^(https?:|data:image\/|\/api\/v1\/files\/)/i,
  alt: /^/,
  title: /^/,
  open: /^/,
  colspan: /^\d{1,3}$/,
  rowspan: /^\d{1,3}$/,
  align: /^(left|center|right)$/i,
};
const attribute = /([a-z]{1,10})(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>=`]+)))?/gi;

/**
 * Markup that stands in a text, rebuilt from what is known; everything else is shown as it was written. The browser's
 * parser reports handlers and styles as violations of the policy even where nothing runs, so none may reach it.
 */
export function rebuildHtml(text: string): string {
  return text
    .replaceAll(/<!--[^]*?(?:-->|$)/g, "")
    .replaceAll(/<(\/?)([a-z][a-z0-9]{0,10})((?:\s[^<>]{0,2000})?)\/?>|[<>]/gi, (all, slash, tag, more) => {
      const name = String(tag ?? "").toLowerCase();
      if (!tags.has(name)) {
        return escapeHtml(all);
      }
      return slash ? `</${name}>` : `<${name}${rebuildAttributes(more ?? "")}>`;
    });
}

function rebuildAttributes(text: string): string {
  return [...text.matchAll(attribute)]
    .map(([, name = "", a, b, c]) => [name.toLowerCase(), a ?? b ?? c ?? ""] as const)
    .filter(([name, value]) => attributes[name]?.test(value.trim()))
    .map(([name, value]) => ` ${name}="${value.trim().replaceAll(/[<>"']/g, (one) => escapeHtml(one))}"`)
    .join("");
}
