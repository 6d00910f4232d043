import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ListedSpec, ListedTool, ToolListing } from "./service.ts";

/** All tools that people may choose, of whatever kind. */
export interface ToolCatalogue {
  list(caller: Principal): Promise<readonly ListedTool[]>;
  /** Throws `not_found` for unknown ids and those of others alike. */
  specs(
    caller: Principal,
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly specs: readonly ListedSpec[] }>;
}

/** Puts the listings of all plugins together; an id that two of them list counts once. */
export function createCatalogue(listings: () => readonly ToolListing[]): ToolCatalogue {
  return {
    async list(caller) {
      const listed = await Promise.all(listings().map((listing) => listing.list(caller)));
      const byId = new Map<string, ListedTool>();
      for (const tool of listed.flat()) {
        if (!byId.has(tool.id)) {
          byId.set(tool.id, tool);
        }
      }
      return [...byId.values()];
    },
    async specs(caller, id, signal) {
      for (const listing of listings()) {
        const found = await listing.specs?.(caller, id, signal);
        if (found !== undefined) {
          return found;
        }
      }
      throw new AppError("not_found", "Tool not found");
    },
  };
}
