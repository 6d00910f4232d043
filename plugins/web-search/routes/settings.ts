import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { WebSettings } from "../config.ts";
import type { Searches } from "../search/search.ts";
import type { WebSearchEngine } from "../service.ts";
import { Hit } from "./schema.ts";

export interface SettingsRouteParts {
  readonly settings: WebSettings;
  readonly searches: Searches;
  engines(): readonly WebSearchEngine[];
}

const Engine = z
  .object({
    id: z.string(),
    title: z.string(),
    /** Names of the variables that it reads, and of those that are needed and empty. */
    variables: z.array(z.string()),
    missing: z.array(z.string()),
  })
  .meta({ id: "WebSearchEngine" });

const Trial = z
  .object({ engine: z.string(), duration_ms: z.int(), items: z.array(Hit) })
  .meta({ id: "WebSearchTrial" });

/** The routes of the settings page: which engines there are, and whether the chosen one answers. */
export function settingsRoutes({ settings, searches, engines }: SettingsRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/web_search/engines",
        summary: "List the search engines, with the variables that each needs",
        access: "admin",
        returns: z.object({ engine: z.string(), is_ready: z.boolean(), engines: z.array(Engine) }),
      },
      () => ({
        engine: settings.engine,
        is_ready: searches.isReady(),
        engines: engines().map((engine) => ({
          id: engine.id,
          title: engine.title,
          variables: [...engine.variables],
          missing: [...engine.missing()],
        })),
      }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/web_search/try",
        summary: "Ask the chosen search engine, also while web search is switched off",
        access: "admin",
        body: z.object({ query: z.string().min(1).max(400) }),
        returns: Trial,
        fails: [400, 429, 502, 503, 504],
      },
      async ({ body, request: { signal } }) => {
        const from = performance.now();
        const items = await searches.ask({ query: body.query, count: settings.resultCount, signal });
        const engine = searches.current();
        if (engine === undefined) {
          throw new AppError("unavailable", "No search engine is chosen.");
        }
        return {
          engine: engine.title,
          duration_ms: Math.round(performance.now() - from),
          items: items.map((hit) => ({ ...hit })),
        };
      },
    ),
  ];
}
