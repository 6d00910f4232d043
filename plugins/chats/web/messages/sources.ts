import type { Source } from "../data/types.ts";

export interface Passage {
  readonly text: string;
  /** Counted from 1. */
  readonly page: number | undefined;
  /** Between 0 and 1. */
  readonly relevance: number | undefined;
}

export function passagesOf({ document, metadata, distances }: Source): readonly Passage[] {
  return document.map((text, index) => {
    const page = metadata[index]?.["page"];
    const distance = distances?.[index];
    return {
      text,
      page: typeof page === "number" ? page + 1 : undefined,
      relevance: distance !== undefined && distance >= 0 && distance <= 1 ? distance : undefined,
    };
  });
}

/** Where a source can be opened; other schemes than those of the web lead nowhere. */
export function safeAddress({ source, metadata }: Source): string | undefined {
  const found = [source.url, metadata[0]?.["source"], source.name].find(
    (one) => typeof one === "string" && /^https?:\/\//i.test(one),
  );
  return found as string | undefined;
}
