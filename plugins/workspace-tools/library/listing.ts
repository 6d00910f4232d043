import type { ToolListing } from "#plugins/tools/service.ts";
import type { Library } from "./library.ts";

/** Workspace tools as the list of all tools shows them; none while people's code is switched off. */
export function createListing(library: Library, isEnabled: () => boolean): ToolListing {
  return {
    async list(caller) {
      const items = isEnabled() ? await library.list(caller) : [];
      // What waits for a yes cannot be chosen; the workspace shows it.
      return items
        .filter((item) => item.is_usable)
        .map((item) => ({ ...item, description: String(item.meta["description"] ?? "") }));
    },
  };
}
