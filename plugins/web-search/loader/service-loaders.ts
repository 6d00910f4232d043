import { isPublicHost } from "#kernel/egress/public-host.ts";
import { AppError } from "#kernel/errors.ts";
import { askService, type EngineParts } from "../engines/ask.ts";
import type { LoadedPage, PageLoader } from "./own-loader.ts";

type Bag = Readonly<Record<string, unknown>>;

/** `POST /v2/scrape {url, formats: ["markdown"]}` → `{data: {markdown, metadata: {title, url}}}`. */
export function createFirecrawlLoader({ egress, settings }: EngineParts): PageLoader {
  return guarded(settings, async (url, signal) => {
    const { firecrawlUrl, firecrawlKey, loaderTimeout } = settings;
    const answer = await askService(egress, {
      title: "Firecrawl",
      url: `${firecrawlUrl.replace(/(?<!\/)\/+$/, "")}/v2/scrape`,
      method: "POST",
      headers: firecrawlKey === "" ? {} : { authorization: `Bearer ${firecrawlKey}` },
      body: { url: url.href, formats: ["markdown"], timeout: loaderTimeout * 1000 },
      timeoutMs: loaderTimeout * 1000,
      signal,
    });
    const { markdown, metadata } = toBag(toBag(answer)["data"]);
    const { title, url: final } = toBag(metadata);
    return toPage("Firecrawl", { url, title, content: markdown, final });
  });
}

/** `POST /extract {urls, extract_depth, format}` with a bearer key → `{results: [{url, raw_content}], failed_results}`. */
export function createTavilyLoader({ egress, settings }: EngineParts): PageLoader {
  return guarded(settings, async (url, signal) => {
    if (settings.tavilyKey === "") {
      throw new AppError("unavailable", "Tavily needs TAVILY_API_KEY, which is not set.");
    }
    const answer = await askService(egress, {
      title: "Tavily",
      url: "https://api.tavily.com/extract",
      method: "POST",
      headers: { authorization: `Bearer ${settings.tavilyKey}` },
      body: { urls: [url.href], extract_depth: "basic", format: "markdown" },
      timeoutMs: settings.loaderTimeout * 1000,
      signal,
    });
    const { raw_content: content, title } = toBag(toList(toBag(answer)["results"])[0]);
    return toPage("Tavily", { url, title, content, final: undefined });
  });
}

/** `POST {urls}` with a bearer key → `[{page_content, metadata: {source, title}}]`. */
export function createExternalLoader({ egress, settings }: EngineParts): PageLoader {
  return guarded(settings, async (url, signal) => {
    const { externalLoaderUrl, externalLoaderKey } = settings;
    if (externalLoaderUrl === "") {
      throw new AppError(
        "unavailable",
        "The external loader needs EXTERNAL_WEB_LOADER_URL, which is not set.",
      );
    }
    const answer = await askService(egress, {
      title: "The external loader",
      url: externalLoaderUrl,
      method: "POST",
      headers: externalLoaderKey === "" ? {} : { authorization: `Bearer ${externalLoaderKey}` },
      body: { urls: [url.href] },
      timeoutMs: settings.loaderTimeout * 1000,
      signal,
    });
    const { page_content: content, metadata } = toBag(toList(answer)[0]);
    return toPage("The external loader", { url, title: toBag(metadata)["title"], content, final: undefined });
  });
}

/** A service inside this network could reach what people may not: private addresses are not handed to it (contract D.15). */
function guarded(settings: EngineParts["settings"], load: PageLoader): PageLoader {
  return async (url, signal) => {
    if (!settings.localFetch) {
      await requirePublic(url);
    }
    return await load(url, signal);
  };
}

async function requirePublic(url: URL): Promise<void> {
  if (!(await isPublicHost(url.hostname))) {
    throw new AppError("forbidden", "The address is private or reserved, and may not be reached from here.");
  }
}

interface Found {
  readonly url: URL;
  readonly title: unknown;
  readonly content: unknown;
  readonly final: unknown;
}

function toPage(service: string, { url, title, content, final }: Found): LoadedPage {
  if (typeof content !== "string") {
    throw new AppError("upstream", `${service} could not load ${url.host}.`);
  }
  const finalUrl = typeof final === "string" ? (URL.parse(final)?.href ?? url.href) : url.href;
  return { finalUrl, title: typeof title === "string" ? title.trim() : "", content };
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null ? (value as Bag) : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
