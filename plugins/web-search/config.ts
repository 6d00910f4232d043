import { checkAddress } from "#config/parse.ts";
import { bool, grouped, int, list, oneOf, text, type Values } from "#config/variable.ts";

const search = (name: string) => ({ key: `web.search.${name}`, persisted: true }) as const;
const loader = (name: string) => ({ key: `web.loader.${name}`, persisted: true }) as const;
const fetched = (name: string) => ({ key: `web.fetch.${name}`, persisted: true }) as const;

const key = (name: string, setting: string, of: string) =>
  text(name, "", { ...search(setting), secret: true, text: `Key of ${of}` });

const searchVariables = grouped("Web search", {
  enabled: bool("ENABLE_WEB_SEARCH", false, {
    ...search("enable"),
    text: "Lets models search the web and read pages in chats where people switch it on",
  }),
  engine: text("WEB_SEARCH_ENGINE", "", {
    ...search("engine"),
    text: "The search engine: searxng, brave, tavily, exa, kagi, google_pse, bing, jina, firecrawl, serper, serpapi, external, or one that a plugin brings",
  }),
  resultCount: int("WEB_SEARCH_RESULT_COUNT", 3, {
    ...search("result_count"),
    min: 1,
    max: 20,
    text: "Results of one search",
  }),
  concurrentRequests: int("WEB_SEARCH_CONCURRENT_REQUESTS", 0, {
    ...search("concurrent_requests"),
    min: 0,
    max: 100,
    text: "Searches that run at the same time; 0 for no limit",
  }),
  searchTimeout: int("WEB_SEARCH_TIMEOUT_SECONDS", 20, {
    ...search("timeout"),
    min: 1,
    max: 300,
    text: "Seconds that a search engine has for its answer",
  }),
  domainFilter: list("WEB_SEARCH_DOMAIN_FILTER_LIST", [], {
    ...search("domain.filter_list"),
    text: "Sites that results may come from; one that begins with ! is left out; empty for all",
  }),
  confirmation: bool("ENABLE_WEB_SEARCH_CONFIRMATION", false, {
    ...search("confirmation.enable"),
    text: "Asks people before a model searches the web or reads a page for them",
  }),
  confirmationContent: text("WEB_SEARCH_CONFIRMATION_CONTENT", "", {
    ...search("confirmation.content"),
    text: "Shown to people who switch web search on while it asks first, such as which company gets the queries",
  }),
  bypassRetrieval: bool("BYPASS_WEB_SEARCH_EMBEDDING_AND_RETRIEVAL", false, {
    ...search("bypass_embedding_and_retrieval"),
    text: "Gives models the found pages whole instead of the passages that fit; only without tool calls of their own",
  }),
  bypassLoader: bool("BYPASS_WEB_SEARCH_WEB_LOADER", false, {
    ...search("bypass_web_loader"),
    text: "Gives models what the search engine says about pages, without opening them; only without tool calls of their own",
  }),
});

/** What engines need; the settings page shows those of the engine in use. */
const engineVariables = grouped("Web search engines", {
  searxngUrl: text("SEARXNG_QUERY_URL", "", {
    ...search("searxng_query_url"),
    check: (value) => checkAddress(value.replaceAll("<query>", "query")),
    text: "Address of the SearXNG server, such as http://searxng:8080/search?q=<query>; JSON has to be among its formats",
  }),
  searxngLanguage: text("SEARXNG_LANGUAGE", "all", {
    ...search("searxng_language"),
    text: "Language of SearXNG's results, such as de; all for any",
  }),
  braveKey: key("BRAVE_SEARCH_API_KEY", "brave_search_api_key", "Brave Search"),
  tavilyKey: key("TAVILY_API_KEY", "tavily_api_key", "Tavily, for searches and for loading pages"),
  exaKey: key("EXA_API_KEY", "exa_api_key", "Exa"),
  kagiKey: key("KAGI_SEARCH_API_KEY", "kagi_search_api_key", "Kagi's search API"),
  googleKey: key("GOOGLE_PSE_API_KEY", "google_pse_api_key", "Google's Custom Search JSON API"),
  googleEngine: text("GOOGLE_PSE_ENGINE_ID", "", {
    ...search("google_pse_engine_id"),
    text: "Id of the programmable search engine at Google",
  }),
  bingEndpoint: text("BING_SEARCH_V7_ENDPOINT", "https://api.bing.microsoft.com/v7.0/search", {
    ...search("bing_search_v7_endpoint"),
    check: checkAddress,
    text: "Address of the Bing Web Search API, or of a service that answers like it",
  }),
  bingKey: key("BING_SEARCH_V7_SUBSCRIPTION_KEY", "bing_search_v7_subscription_key", "Bing Web Search"),
  jinaUrl: text("JINA_API_BASE_URL", "https://s.jina.ai/", {
    ...search("jina_api_base_url"),
    check: checkAddress,
    text: "Address of Jina's search",
  }),
  jinaKey: key("JINA_API_KEY", "jina_api_key", "Jina"),
  firecrawlUrl: text("FIRECRAWL_API_BASE_URL", "https://api.firecrawl.dev", {
    ...loader("firecrawl_api_url"),
    check: checkAddress,
    text: "Address of the Firecrawl server",
  }),
  firecrawlKey: text("FIRECRAWL_API_KEY", "", {
    ...loader("firecrawl_api_key"),
    secret: true,
    text: "Key of Firecrawl, for searches and for loading pages; a server of one's own may need none",
  }),
  serperKey: key("SERPER_API_KEY", "serper_api_key", "Serper"),
  serpapiKey: key("SERPAPI_API_KEY", "serpapi_api_key", "SerpApi"),
  serpapiEngine: text("SERPAPI_ENGINE", "google", {
    ...search("serpapi_engine"),
    text: "The engine that SerpApi asks, such as google or duckduckgo",
  }),
  externalUrl: text("EXTERNAL_WEB_SEARCH_URL", "", {
    ...search("external_web_search_url"),
    check: checkAddress,
    text: "Address of a search service of one's own: it gets {query, count} and answers [{link, title, snippet}]",
  }),
  externalKey: key("EXTERNAL_WEB_SEARCH_API_KEY", "external_web_search_api_key", "that search service"),
});

const loaderVariables = grouped("Web pages", {
  loaderEngine: oneOf("WEB_LOADER_ENGINE", ["", "firecrawl", "tavily", "external"], "", {
    ...loader("engine"),
    text: "Loads pages: empty for this server itself, or a service that does it",
  }),
  loaderConcurrency: int("WEB_LOADER_CONCURRENT_REQUESTS", 10, {
    ...loader("concurrent_requests"),
    min: 1,
    max: 100,
    text: "Pages that are loaded at the same time",
  }),
  loaderTimeout: int("WEB_LOADER_TIMEOUT", 30, {
    ...loader("timeout"),
    min: 1,
    max: 600,
    text: "Seconds that a page has to load",
  }),
  externalLoaderUrl: text("EXTERNAL_WEB_LOADER_URL", "", {
    ...loader("external_web_loader_url"),
    check: checkAddress,
    text: "Address of a loading service of one's own: it gets {urls} and answers [{page_content, metadata}]",
  }),
  externalLoaderKey: text("EXTERNAL_WEB_LOADER_API_KEY", "", {
    ...loader("external_web_loader_api_key"),
    secret: true,
    text: "Key of that service",
  }),
  localFetch: bool("ENABLE_RAG_LOCAL_WEB_FETCH", false, {
    ...fetched("local"),
    text: "Lets people and models read pages at private addresses of this network",
  }),
  fetchFilter: list("WEB_FETCH_FILTER_LIST", [], {
    ...fetched("filter_list"),
    text: "Sites whose pages may be read; one that begins with ! may not; empty for all",
  }),
  maxContentLength: int("WEB_FETCH_MAX_CONTENT_LENGTH", 50_000, {
    ...fetched("max_content_length"),
    min: 1000,
    max: 1_000_000,
    text: "Most characters of a page that fetch_url gives to a model",
  }),
  maxBytes: int("WEB_FETCH_MAX_BYTES", 10_485_760, {
    ...fetched("max_bytes"),
    min: 10_000,
    max: 104_857_600,
    text: "Most bytes of a page that are read",
  }),
  respectRobots: bool("WEB_FETCH_RESPECT_ROBOTS", true, {
    ...fetched("robots"),
    text: "Leaves out pages that a site's robots.txt keeps from programs",
  }),
  userAgent: text("WEB_FETCH_USER_AGENT", "MillraceBot/1.0", {
    ...fetched("user_agent"),
    check: (value) =>
      /^[\x20-\x7E]{1,200}$/.test(value) ? undefined : "must be plain text of 1 to 200 characters",
    text: "Name under which this server reads pages, and that rules of robots.txt are looked up for",
  }),
  cacheSeconds: int("WEB_FETCH_CACHE_SECONDS", 300, {
    ...fetched("cache"),
    min: 0,
    max: 86_400,
    text: "Seconds that a page is kept, so that it is not loaded twice; 0 for none",
  }),
});

export const webVariables = { ...searchVariables, ...engineVariables, ...loaderVariables };
export type WebSettings = Values<typeof webVariables>;
