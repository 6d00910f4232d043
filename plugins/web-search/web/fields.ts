import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** A variable as this page names it. */
export interface FieldWords {
  readonly label: string;
  readonly hint?: string;
}

const key = (): FieldWords => ({ label: t("Key") });
const address = (hint?: string): FieldWords => ({ label: t("Address"), ...(hint && { hint }) });

/** Labels and hints of the fields of engines and loaders, by variable; others keep their names. */
export function wordsOf(name: string): FieldWords {
  const words: Readonly<Record<string, () => FieldWords>> = {
    SEARXNG_QUERY_URL: () =>
      address(t("Such as http://searxng:8080/search. JSON has to be among its formats.")),
    SEARXNG_LANGUAGE: () => ({ label: t("Language of results"), hint: t("Such as de; all for any.") }),
    BRAVE_SEARCH_API_KEY: key,
    TAVILY_API_KEY: key,
    EXA_API_KEY: key,
    KAGI_SEARCH_API_KEY: key,
    GOOGLE_PSE_API_KEY: key,
    GOOGLE_PSE_ENGINE_ID: () => ({ label: t("Id of the search engine") }),
    BING_SEARCH_V7_ENDPOINT: () =>
      address(t("The service itself was closed in 2025; others answer like it.")),
    BING_SEARCH_V7_SUBSCRIPTION_KEY: key,
    JINA_API_KEY: key,
    JINA_API_BASE_URL: () => address(),
    FIRECRAWL_API_KEY: () => ({ label: t("Key"), hint: t("A server of your own may need none.") }),
    FIRECRAWL_API_BASE_URL: () => address(),
    SERPER_API_KEY: key,
    SERPAPI_API_KEY: key,
    SERPAPI_ENGINE: () => ({ label: t("Engine behind it"), hint: t("Such as google or duckduckgo.") }),
    EXTERNAL_WEB_SEARCH_URL: () =>
      address(t("It gets a query and a count, and answers a list of link, title and snippet.")),
    EXTERNAL_WEB_SEARCH_API_KEY: key,
    EXTERNAL_WEB_LOADER_URL: () => address(),
    EXTERNAL_WEB_LOADER_API_KEY: key,
  };
  return words[name]?.() ?? { label: name };
}

/** What each loader reads. */
export const loaderFields: Readonly<Record<string, readonly string[]>> = {
  "": [],
  firecrawl: ["FIRECRAWL_API_KEY", "FIRECRAWL_API_BASE_URL"],
  tavily: ["TAVILY_API_KEY"],
  external: ["EXTERNAL_WEB_LOADER_URL", "EXTERNAL_WEB_LOADER_API_KEY"],
};
