import type { SystemEventName } from "#kernel/system-event-names.ts";
import type { ConfigRegistry } from "#config/registry.ts";
import type { SettingsConfig } from "./config.ts";
import type { Banner, Suggestion } from "./schema.ts";
import { builtInSuggestions } from "./suggestions.ts";

export interface OffersOptions {
  readonly config: Pick<SettingsConfig, "banners" | "suggestions">;
  readonly configuration: Pick<ConfigRegistry, "set">;
  announce(
    event: Extract<SystemEventName, `config.${string}`>,
    by: string,
    data: Record<string, unknown>,
  ): void;
}

/** Banners and prompt suggestions that administrators show to all. */
export interface Offers {
  banners(): Banner[];
  setBanners(banners: Banner[], by: string): Promise<Banner[]>;
  /** The suggestions in force: the built-in ones while none are set. */
  suggestions(): readonly Suggestion[];
  setSuggestions(suggestions: Suggestion[] | null, by: string): Promise<readonly Suggestion[]>;
}

/** Creates the logic behind `/configs/banners` and `/configs/suggestions`. */
export function createOffers({ config, configuration, announce }: OffersOptions): Offers {
  const suggestions = () => config.suggestions ?? builtInSuggestions;
  return {
    banners: () => config.banners,
    async setBanners(banners, by) {
      await configuration.set({ WEBUI_BANNERS: banners }, by);
      announce("config.banners.updated", by, { count: banners.length });
      return config.banners;
    },
    suggestions,
    async setSuggestions(chosen, by) {
      await configuration.set({ DEFAULT_PROMPT_SUGGESTIONS: chosen }, by);
      announce("config.suggestions.updated", by, { count: chosen?.length ?? null });
      return suggestions();
    },
  };
}
