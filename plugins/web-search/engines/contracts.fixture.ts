import type { WebSettings } from "../config.ts";

/** How an engine is asked for two results of "water mill", and what it then answers, as its documentation says. */
export interface Contract {
  readonly id: string;
  readonly settings: (origin: string) => Partial<WebSettings>;
  readonly method: "GET" | "POST";
  /** Origin and path. */
  readonly address: (origin: string) => string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The documented answer with two results. */
  readonly answer: unknown;
  /** The documented answer without results. */
  readonly empty: unknown;
  /** A variable that has to be set. */
  readonly needs: string;
}

export const mill = "https://mill.example/wheel";
export const river = "https://river.example/";
/** The key of every engine. */
export const key = "secret-key";

export const contracts: readonly Contract[] = [
  {
    id: "searxng",
    settings: (origin) => ({ searxngUrl: `${origin}/search?q=<query>`, searxngLanguage: "de" }),
    method: "GET",
    address: (origin) => `${origin}/search`,
    query: { q: "water mill", format: "json", pageno: "1", language: "de" },
    answer: {
      query: "water mill",
      results: [
        { url: mill, title: "A wheel", content: "It turns.", engine: "x", score: 2 },
        { url: river, title: "A river", content: "It flows.", engine: "y", score: 1 },
      ],
    },
    empty: { query: "water mill", results: [] },
    needs: "SEARXNG_QUERY_URL",
  },
  {
    id: "brave",
    settings: () => ({ braveKey: key }),
    method: "GET",
    address: () => "https://api.search.brave.com/res/v1/web/search",
    query: { q: "water mill", count: "2" },
    headers: { "x-subscription-token": key },
    answer: {
      type: "search",
      web: {
        results: [
          { title: "A wheel", url: mill, description: "It <strong>turns</strong>." },
          { title: "A river", url: river, description: "It flows." },
        ],
      },
    },
    empty: { type: "search" },
    needs: "BRAVE_SEARCH_API_KEY",
  },
  {
    id: "tavily",
    settings: () => ({ tavilyKey: key }),
    method: "POST",
    address: () => "https://api.tavily.com/search",
    headers: { authorization: `Bearer ${key}` },
    body: { query: "water mill", max_results: 2 },
    answer: {
      query: "water mill",
      results: [
        { title: "A wheel", url: mill, content: "It turns.", score: 0.9 },
        { title: "A river", url: river, content: "It flows.", score: 0.5 },
      ],
    },
    empty: { query: "water mill", results: [] },
    needs: "TAVILY_API_KEY",
  },
  {
    id: "exa",
    settings: () => ({ exaKey: key }),
    method: "POST",
    address: () => "https://api.exa.ai/search",
    headers: { "x-api-key": key },
    body: { query: "water mill", numResults: 2, type: "auto", contents: { highlights: true } },
    answer: {
      requestId: "r",
      results: [
        { title: "A wheel", url: mill, highlights: ["It turns."] },
        { title: "A river", url: river, highlights: ["It flows."] },
      ],
    },
    empty: { requestId: "r", results: [] },
    needs: "EXA_API_KEY",
  },
  {
    id: "kagi",
    settings: () => ({ kagiKey: key }),
    method: "POST",
    address: () => "https://kagi.com/api/v1/search",
    headers: { authorization: `Bearer ${key}` },
    body: { query: "water mill", workflow: "search", limit: 2 },
    answer: {
      meta: { node: "x" },
      data: {
        search: [
          { url: mill, title: "A wheel", snippet: "It turns." },
          { url: river, title: "A river", snippet: "It flows." },
        ],
      },
    },
    empty: { meta: {}, data: {} },
    needs: "KAGI_SEARCH_API_KEY",
  },
  {
    id: "google_pse",
    settings: () => ({ googleKey: key, googleEngine: "cx-1" }),
    method: "GET",
    address: () => "https://www.googleapis.com/customsearch/v1",
    query: { cx: "cx-1", key, q: "water mill", num: "2", start: "1" },
    answer: {
      items: [
        { title: "A wheel", link: mill, snippet: "It turns." },
        { title: "A river", link: river, snippet: "It flows." },
      ],
    },
    empty: { searchInformation: { totalResults: "0" } },
    needs: "GOOGLE_PSE_API_KEY",
  },
  {
    id: "bing",
    settings: () => ({ bingKey: key }),
    method: "GET",
    address: () => "https://api.bing.microsoft.com/v7.0/search",
    query: { q: "water mill", count: "2" },
    headers: { "ocp-apim-subscription-key": key },
    answer: {
      webPages: {
        value: [
          { name: "A wheel", url: mill, snippet: "It turns." },
          { name: "A river", url: river, snippet: "It flows." },
        ],
      },
    },
    empty: { _type: "SearchResponse" },
    needs: "BING_SEARCH_V7_SUBSCRIPTION_KEY",
  },
  {
    id: "jina",
    settings: () => ({ jinaKey: key }),
    method: "POST",
    address: () => "https://s.jina.ai/",
    headers: { authorization: `Bearer ${key}`, "x-respond-with": "no-content" },
    body: { q: "water mill", num: 2 },
    answer: {
      code: 200,
      data: [
        { title: "A wheel", url: mill, description: "It turns." },
        { title: "A river", url: river, description: "It flows." },
      ],
    },
    empty: { code: 200, data: [] },
    needs: "JINA_API_KEY",
  },
  {
    id: "firecrawl",
    settings: () => ({ firecrawlKey: key }),
    method: "POST",
    address: () => "https://api.firecrawl.dev/v2/search",
    headers: { authorization: `Bearer ${key}` },
    body: { query: "water mill", limit: 2, sources: ["web"] },
    answer: {
      success: true,
      data: {
        web: [
          { url: mill, title: "A wheel", description: "It turns.", position: 1 },
          { url: river, title: "A river", description: "It flows.", position: 2 },
        ],
      },
    },
    empty: { success: true, data: {} },
    needs: "FIRECRAWL_API_KEY",
  },
  {
    id: "serper",
    settings: () => ({ serperKey: key }),
    method: "POST",
    address: () => "https://google.serper.dev/search",
    headers: { "x-api-key": key },
    body: { q: "water mill", num: 2 },
    answer: {
      organic: [
        { title: "A wheel", link: mill, snippet: "It turns.", position: 1 },
        { title: "A river", link: river, snippet: "It flows.", position: 2 },
      ],
    },
    empty: { organic: [] },
    needs: "SERPER_API_KEY",
  },
  {
    id: "serpapi",
    settings: () => ({ serpapiKey: key }),
    method: "GET",
    address: () => "https://serpapi.com/search",
    query: { engine: "google", q: "water mill", api_key: key },
    answer: {
      organic_results: [
        { position: 1, title: "A wheel", link: mill, snippet: "It turns." },
        { position: 2, title: "A river", link: river, snippet: "It flows." },
      ],
    },
    empty: { search_metadata: { status: "Success" } },
    needs: "SERPAPI_API_KEY",
  },
  {
    id: "external",
    settings: (origin) => ({ externalUrl: `${origin}/mine`, externalKey: key }),
    method: "POST",
    address: (origin) => `${origin}/mine`,
    headers: { authorization: `Bearer ${key}` },
    body: { query: "water mill", count: 2 },
    answer: [
      { link: mill, title: "A wheel", snippet: "It turns." },
      { link: river, title: "A river", snippet: "It flows." },
    ],
    empty: [],
    needs: "EXTERNAL_WEB_SEARCH_URL",
  },
];
