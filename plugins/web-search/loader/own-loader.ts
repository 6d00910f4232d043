import type { Egress } from "#kernel/egress/egress.ts";
import { Readable } from "node:stream";
import { AppError } from "#kernel/errors.ts";
import type { Extraction } from "#plugins/extraction/service.ts";
import type { WebSettings } from "../config.ts";
import type { HtmlReader } from "./readable.ts";
import type { Robots } from "./robots.ts";

/** A page as a loader found it. */
export interface LoadedPage {
  readonly finalUrl: string;
  readonly title: string;
  readonly content: string;
}

/** Loads one page; the address has been checked against the lists of sites. */
export type PageLoader = (url: URL, signal: AbortSignal) => Promise<LoadedPage>;

export interface OwnLoaderParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: WebSettings;
  readonly robots: Robots;
  readonly reader: HtmlReader;
  /** Reads documents such as PDF; they are refused without it. */
  readonly extraction: Extraction | undefined;
  /** Throws for a site that the lists keep out. */
  requireSite(url: URL): void;
}

const html = new Set(["text/html", "application/xhtml+xml"]);
const texts = /^(?:text\/[\w.+-]+|application\/(?:json|xml|yaml|x-yaml|[\w.-]+\+(?:json|xml)))$/;

/**
 * Loads pages from here. The address comes from a person, a model or a search engine: private ones are refused unless
 * ENABLE_RAG_LOCAL_WEB_FETCH (contract D.15), at each hop, and nothing of the caller goes along.
 */
export function createOwnLoader({
  egress,
  settings,
  robots,
  reader,
  extraction,
  requireSite,
}: OwnLoaderParts): PageLoader {
  return async (url, signal) => {
    if (settings.respectRobots) {
      await robots.require(url, signal);
    }
    let redirect: URL | undefined;
    const response = await egress
      .fetch(url, {
        trust: settings.localFetch ? "operator" : "user",
        signal,
        timeoutMs: settings.loaderTimeout * 1000,
        maxBytes: settings.maxBytes,
        headers: {
          "user-agent": settings.userAgent,
          accept: "text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.1",
        },
        onRedirect(to) {
          redirect = to;
          requireSite(to);
        },
      })
      .catch((error: unknown) => {
        throw toPageFailure(error, url, redirect);
      });
    const finalUrl = new URL(response.url || url.href);
    try {
      requireReadable(response, { url, hasExtraction: extraction !== undefined });
      if (settings.respectRobots && finalUrl.origin !== url.origin) {
        await robots.require(finalUrl, signal);
      }
    } catch (error) {
      await response.body?.cancel().catch(() => {});
      throw error;
    }
    const bytes = new Uint8Array(
      await response.arrayBuffer().catch((error: unknown) => {
        throw toPageFailure(error, url, undefined);
      }),
    );
    const { type, charset } = toType(response);
    const page = { bytes, url: finalUrl.href, charset };
    if (html.has(type)) {
      return { finalUrl: finalUrl.href, ...(await reader.read(page)) };
    }
    const title = toName(finalUrl);
    if (texts.test(type)) {
      return { finalUrl: finalUrl.href, title, content: decode(bytes, charset) };
    }
    const document = { name: title, type, open: async () => Readable.from([Buffer.from(bytes)]) };
    const found = await extraction?.extract(document, signal);
    if (found === undefined) {
      throw toUnreadable(type);
    }
    return { finalUrl: finalUrl.href, title, content: found.text };
  };
}

function requireReadable(
  response: Response,
  { url, hasExtraction }: { readonly url: URL; readonly hasExtraction: boolean },
): void {
  if (!response.ok) {
    const isGone = response.status === 404 || response.status === 410;
    throw new AppError(
      "upstream",
      isGone ? `${url.host} has no such page.` : `${url.host} answered with status ${response.status}.`,
    );
  }
  const { type } = toType(response);
  const isDocument = hasExtraction && !/^(?:image|audio|video|font)\//.test(type);
  if (!html.has(type) && !texts.test(type) && !isDocument) {
    throw toUnreadable(type);
  }
}

function toUnreadable(type: string): AppError {
  return new AppError("invalid", `The page is of the type ${type}, which cannot be read as text.`);
}

function toType({ headers }: Response): { type: string; charset: string | undefined } {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "text/html").toLowerCase().split(";");
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([\w-]{1,40})/.exec(each)?.[1]);
  return { type: type.trim(), charset: charset.find((each) => each !== undefined) };
}

/** Tells a redirect that the settings do not allow to follow by its target, which can be asked for instead. */
function toPageFailure(error: unknown, url: URL, redirect: URL | undefined): unknown {
  if (!(error instanceof AppError)) {
    return error;
  }
  if (redirect !== undefined && error.code === "upstream") {
    return new AppError("upstream", `${url.host} says that the page is at ${redirect.href} now.`, {
      cause: error,
    });
  }
  return new AppError(error.code, `${url.host}: ${error.message}`, { cause: error });
}

function toName(url: URL): string {
  return (
    decodeURI(url.pathname)
      .split("/")
      .findLast((part) => part !== "") ?? url.hostname
  );
}

function decode(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
