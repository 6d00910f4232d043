import type { WebSettings } from "../config.ts";
import type { Pages } from "../loader/pages.ts";
import type { Searches } from "../search/search.ts";

export interface WebToolParts {
  readonly settings: WebSettings;
  readonly searches: Pick<Searches, "ask" | "isReady">;
  readonly pages: Pick<Pages, "load">;
}

/** The category `web_search` of built-in tools; both need the feature of the request and the permission (contract §3.6). */
export const common = {
  category: "web_search",
  feature: "web_search",
  permission: "features.web_search",
  isParallel: true,
} as const;
