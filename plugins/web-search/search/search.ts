import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { WebSettings } from "../config.ts";
import { createLimiter } from "../limiter.ts";
import type { WebHit, WebQuestion, WebSearchEngine } from "../service.ts";
import { allowsHost } from "./domains.ts";

export interface SearchParts {
  readonly settings: WebSettings;
  engines(): readonly WebSearchEngine[];
}

export type Searches = ReturnType<typeof createSearches>;

/** Most characters of a query; engines refuse longer ones. */
const mostQuery = 400;
const mostCount = 20;

/** Asks the engine that the settings name. */
export function createSearches({ settings, engines }: SearchParts) {
  const limit = createLimiter(() => settings.concurrentRequests);

  const find = (): WebSearchEngine => {
    const { engine: id } = settings;
    const engine = engines().find((one) => one.id === id);
    if (engine === undefined) {
      const list = engines()
        .map((one) => one.id)
        .join(", ");
      throw new AppError(
        "unavailable",
        id === ""
          ? `No search engine is chosen. An administrator sets WEB_SEARCH_ENGINE to one of ${list}.`
          : `The search engine "${id}" is not available here. Available are ${list}.`,
      );
    }
    const missing = engine.missing();
    if (missing.length > 0) {
      throw new AppError("unavailable", `${engine.title} needs ${missing.join(" and ")}, which is not set.`);
    }
    return engine;
  };

  /** Whatever the switch says, so that an administrator can try an engine before people may use it. */
  const ask = async ({ query, count, signal }: WebQuestion): Promise<readonly WebHit[]> => {
    const engine = find();
    const asked = query.replaceAll(/\s+/g, " ").trim().slice(0, mostQuery);
    if (asked === "") {
      throw new AppError("invalid", "query: is empty.");
    }
    const wanted = Math.min(mostCount, Math.max(1, Math.floor(count)));
    const hits = await limit(() => engine.search({ query: asked, count: wanted, signal }), signal);
    const seen = new Set<string>();
    return hits
      .filter(({ link }) => allowsHost(new URL(link), settings.domainFilter))
      .filter(({ link }) => !seen.has(link) && seen.add(link))
      .slice(0, wanted);
  };

  return {
    ask,
    /** The engine of the settings; undefined for one that is not there. */
    current: () => engines().find(({ id }) => id === settings.engine),
    isReady(): boolean {
      const engine = engines().find(({ id }) => id === settings.engine);
      return settings.enabled && engine !== undefined && engine.missing().length === 0;
    },
    /** Throws `forbidden` while web search is off and for people without `features.web_search` (contract §6.3). */
    requireAllowed(principal: Principal): void {
      if (!settings.enabled) {
        throw new AppError("forbidden", "Web search is switched off.");
      }
      if (!hasPermission(principal, "features.web_search")) {
        throw new AppError("forbidden", "Not allowed: needs the permission features.web_search.");
      }
    },
  };
}
