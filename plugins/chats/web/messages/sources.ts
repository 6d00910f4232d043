import { formatNumber, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Source, StatusLine } from "../data/types.ts";

export interface Passage {
  readonly text: string;
  /** Page or slide, as people count. */
  readonly page: string | undefined;
  readonly sheet: string | undefined;
  /** Titles above it, from the outermost. */
  readonly headings: readonly string[];
  /** Between 0 and 1. */
  readonly relevance: number | undefined;
  /** What each method of the search gave it, between 0 and 1. */
  readonly scores: Readonly<Record<string, number>>;
  /** Where it stands in the text of its file. */
  readonly range: { readonly start: number; readonly end: number } | undefined;
  /** All of the document. */
  readonly isWhole: boolean;
}

/** Something a reply rests on, under the number by which its text names it. */
export interface Cited {
  readonly number: number;
  readonly name: string;
  /** Where it can be opened on the web; other schemes lead nowhere. */
  readonly address: string | undefined;
  readonly fileId: string | undefined;
  readonly chatId: string | undefined;
  readonly passages: readonly Passage[];
}

/** Cited sources: entries of one source are one, and are counted as the model counted them (contract §6.3). */
export function toCited(sources: readonly Source[]): Cited[] {
  const entries = sources.flatMap(split);
  return [...Map.groupBy(entries, ({ key }) => key).values()].map((group, at) => {
    const [{ source, name, metadata }] = group as [Entry];
    const passages = [
      ...new Map(group.flatMap((entry) => entry.passages).map((one) => [one.text, one])).values(),
    ];
    const fileId = metadata["file_id"] ?? (source.type === "file" ? source.id : undefined);
    return {
      number: at + 1,
      name: name ?? t("Source {number}", { number: at + 1 }),
      address: [source.url, metadata["source"], source.name].find(isAddress),
      fileId: typeof fileId === "string" ? fileId : undefined,
      chatId: source.type === "chat" ? source.id : undefined,
      passages,
    };
  });
}

interface Entry {
  readonly key: string;
  readonly name: string | undefined;
  readonly source: Source["source"];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly passages: readonly Passage[];
}

/** Chats of other programs hold the passages of a collection in one entry, and count its documents. */
function split(source: Source): Entry[] {
  const { id, name, type } = source.source;
  const passages = passagesOf(source);
  const metadata = source.metadata[0] ?? {};
  const key = id ?? name ?? JSON.stringify(metadata);
  if (type !== "collection") {
    return [{ key, name: name ?? toText(metadata["name"]), source: source.source, metadata, passages }];
  }
  return passages.map((passage, at): Entry => {
    const about = source.metadata[at] ?? {};
    const from = toText(about["file_id"]) ?? toText(about["source"]);
    const title = toText(about["name"]) ?? toText(about["source"]) ?? name;
    return { key: from ?? key, name: title, source: source.source, metadata: about, passages: [passage] };
  });
}

function passagesOf({ document, metadata, distances }: Source): Passage[] {
  return document.map((text, index) => {
    const about = metadata[index] ?? {};
    const { page, start, end, scores } = about;
    const relevance = about["score"] ?? distances?.[index];
    return {
      text,
      page: toText(about["page_label"]) ?? (typeof page === "number" ? formatNumber(page + 1) : undefined),
      sheet: toText(about["sheet"]),
      headings: Array.isArray(about["headings"]) ? about["headings"].map(String) : [],
      relevance: isShare(relevance) ? relevance : undefined,
      scores: Object.fromEntries(Object.entries(scores ?? {}).filter(([, value]) => isShare(value))),
      range: typeof start === "number" && typeof end === "number" ? { start, end } : undefined,
      isWhole: about["whole"] === true,
    };
  });
}

const isShare = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= 1;

const toText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const isAddress = (one: unknown): one is string => typeof one === "string" && /^https?:\/\//i.test(one);

/** Where a passage stands, in words. */
export function placeOf({ page, sheet, headings }: Passage): string {
  return [
    page === undefined ? undefined : t("Page {page}", { page }),
    sheet === undefined ? undefined : t("Sheet {sheet}", { sheet }),
    headings.at(-1),
  ]
    .filter((one) => one !== undefined)
    .join(" · ");
}

const tipLength = 180;

/** What the numbers in a reply stand for, in a few words each. */
export function tipsOf(cited: readonly Cited[]): string[] {
  return cited.map(({ name, passages: [first] }) => {
    const place = first ? placeOf(first) : "";
    const title = place === "" ? name : `${name}, ${place}`;
    const words = first?.text.replaceAll(/\s+/g, " ").trim() ?? "";
    return words === ""
      ? title
      : `${title}: ${words.slice(0, tipLength)}${words.length > tipLength ? "…" : ""}`;
  });
}

/** What was searched for before the reply was written. */
export function queriesOf(lines: readonly StatusLine[]): string[] {
  const asked = lines.flatMap(({ action, queries, query }) =>
    action === "queries_generated" || action === "knowledge_search"
      ? (queries ?? (query ? [query] : []))
      : [],
  );
  return [...new Set(asked)];
}
