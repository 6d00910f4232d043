/** An entry of a reply's sources for a page of the web (contract §3.4). */
export function toWebSource(page: {
  readonly url: string;
  readonly title: string;
  readonly texts: readonly string[];
}) {
  const { url, title, texts } = page;
  return {
    source: { id: url, name: title, url, type: "url" },
    document: texts,
    metadata: texts.map(() => ({ source: url, name: title, url })),
  };
}
