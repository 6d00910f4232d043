import { t } from "../i18n/index.svelte.ts";
import { escapeHtml } from "./escape.ts";

/** Attributes come in the order in which the renderer or the sanitizer writes them. */
const written =
  /<span data-cited="([\d ]+)" class="citations">[^<]*<\/span>|<span class="citations" data-cited="([\d ]+)">[^<]*<\/span>/g;

/** Makes links of the numbers that a source has. Nothing else in a sanitized text has this attribute with numbers. */
export function linkCitations(html: string, tips: readonly string[]): string {
  return tips.length === 0
    ? html
    : html.replaceAll(written, (all, first, second) => {
        const cited = String(first ?? second).split(" ");
        const links = cited.filter((one) => Number(one) >= 1 && Number(one) <= tips.length);
        return links.length === 0 ? all : links.map((one) => toLink(one, tips)).join("");
      });
}

function toLink(number: string, tips: readonly string[]): string {
  const tip = escapeHtml(tips[Number(number) - 1] ?? "");
  const label = escapeHtml(t("Source {number}", { number }));
  return `<a href="#" class="citation" data-cite="${number}" data-tip="${tip}" aria-label="${label}">${number}</a>`;
}
