import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";
import { fill, type Slot } from "#kernel/service.ts";
import type { ToolApprover } from "#kernel/tools/approval.ts";
import type { QueryWriter } from "#plugins/chat-tasks/service.ts";
import { contextSources } from "#plugins/completions/service.ts";
import type { Extraction } from "#plugins/extraction/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import type { WebSettings } from "./config.ts";
import { createWebContext } from "./context/web-context.ts";
import { createEngines } from "./engines/engines.ts";
import { createPages } from "./loader/pages.ts";
import { processRoutes } from "./routes/process.ts";
import { settingsRoutes } from "./routes/settings.ts";
import { createSearches } from "./search/search.ts";
import type { WebSearch, WebSearchEngine } from "./service.ts";
import { createWebTools } from "./tools/web-tools.ts";

export interface WebSearchParts {
  readonly settings: WebSettings;
  readonly egress: Egress;
  readonly engines: Slot<WebSearchEngine>;
  readonly approvers: Slot<ToolApprover>;
  readonly writer: QueryWriter | undefined;
  readonly retrieval: Retrieval | undefined;
  readonly extraction: Extraction | undefined;
  readonly log: Logger;
}

/** Joins the parts of the plugin. */
export function setUpWebSearch(parts: WebSearchParts) {
  const { settings, log } = parts;
  const own = createEngines(parts);
  const engines = () => [...own, ...parts.engines.list()];
  const searches = createSearches({ settings, engines });
  const pages = createPages(parts);
  const service: WebSearch = {
    isReady: () => searches.isReady(),
    async search(principal, question) {
      searches.requireAllowed(principal);
      return await searches.ask(question);
    },
    load: (url, signal) => pages.load(url, signal),
  };
  return {
    service,
    routes: {
      api: [
        ...settingsRoutes({ ...parts, engines, searches }),
        ...processRoutes("/retrieval", { ...parts, searches, pages }),
      ],
      retrieval: processRoutes("", { ...parts, searches, pages }),
    },
    fills: [fill(contextSources, createWebContext({ ...parts, searches, pages }))],
    tools: [createWebTools({ settings, searches, pages })],
    start(): void {
      requireDistinct(engines());
      if (settings.engine !== "" && searches.current() === undefined) {
        const list = engines().map(({ id }) => id);
        log.warn(
          `WEB_SEARCH_ENGINE: "${settings.engine}" is not available here. Available are ${list.join(", ")}.`,
        );
      }
    },
    stop: () => pages.close(),
  };
}

function requireDistinct(engines: readonly WebSearchEngine[]): void {
  const ids = engines.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) {
    throw new Error(`Two plugins bring a search engine with the id "${twice}".`);
  }
}
