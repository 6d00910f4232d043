import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { WebSettings } from "../config.ts";
import type { Extraction } from "#plugins/extraction/service.ts";
import { createLimiter } from "../limiter.ts";
import { allowsHost } from "../search/domains.ts";
import type { WebPage } from "../service.ts";
import { createOwnLoader, type PageLoader } from "./own-loader.ts";
import { createPageCache } from "./page-cache.ts";
import { createHtmlReader } from "./readable.ts";
import { createRobots } from "./robots.ts";
import { createExternalLoader, createFirecrawlLoader, createTavilyLoader } from "./service-loaders.ts";

export interface PagesParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: WebSettings;
  readonly extraction?: Extraction | undefined;
}

export type Pages = ReturnType<typeof createPages>;

/** Most characters of a page that are kept, whoever asks. */
const mostContent = 1_000_000;
const mostAddress = 4_000;

/** Loads pages of the web as text, whatever loader the settings name. */
export function createPages(parts: PagesParts) {
  const { egress, settings } = parts;
  const reader = createHtmlReader();
  const cache = createPageCache();
  const limit = createLimiter(() => settings.loaderConcurrency);
  const robots = createRobots({
    egress,
    userAgent: () => settings.userAgent,
    trust: () => (settings.localFetch ? "operator" : "user"),
  });
  const requireSite = (url: URL) => {
    if (!allowsHost(url, settings.fetchFilter)) {
      throw new AppError("forbidden", `Pages of ${url.hostname} may not be read here.`);
    }
  };
  const loaders: Readonly<Record<WebSettings["loaderEngine"], PageLoader>> = {
    "": createOwnLoader({ egress, settings, robots, reader, extraction: parts.extraction, requireSite }),
    firecrawl: createFirecrawlLoader(parts),
    tavily: createTavilyLoader(parts),
    external: createExternalLoader(parts),
  };

  return {
    /** Throws as `WebSearch.load` says. */
    async load(address: string, signal: AbortSignal): Promise<WebPage> {
      const url = toPageAddress(address);
      requireSite(url);
      const key = JSON.stringify([
        settings.loaderEngine,
        settings.localFetch,
        settings.respectRobots,
        url.href,
      ]);
      const kept = cache.get(key);
      if (kept !== undefined) {
        return kept;
      }
      const load = loaders[settings.loaderEngine];
      const found = await limit(() => load(url, signal), signal);
      const page = toPage(address, found);
      cache.set(key, page, settings.cacheSeconds);
      return page;
    },
    close: () => reader.close(),
  };
}

/** An address without sign-in and fragment: neither is sent. */
function toPageAddress(address: string): URL {
  const url = address.length > mostAddress ? null : URL.parse(address.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError("invalid", "url: must be an http or https address.");
  }
  url.username = "";
  url.password = "";
  url.hash = "";
  return url;
}

function toPage(url: string, { finalUrl, title, content }: Awaited<ReturnType<PageLoader>>): WebPage {
  const text = content.replaceAll("\0", "").trim();
  if (text === "") {
    throw new AppError("invalid", "The page has no text that could be read.");
  }
  return {
    url,
    finalUrl,
    title: title.replaceAll("\0", "").slice(0, 300) || new URL(finalUrl).hostname,
    content: text.slice(0, mostContent).toWellFormed(),
    isTruncated: text.length > mostContent,
  };
}
