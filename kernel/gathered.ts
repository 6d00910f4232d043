import type { ExistingResources } from "#storage/grant-sweep.ts";
import type { ModelProvider } from "./completion/provider.ts";
import type { OwnedRoute } from "./http/bind.ts";
import type { Job } from "./jobs.ts";
import type { Omission } from "./omission.ts";
import type { OwnedFilter } from "./pipeline/filter.ts";
import type { AnyPlugin, Contributions } from "./plugin.ts";
import type { OwnedSocketHandler } from "./sockets/handler.ts";
import type { OwnedTool } from "./tools/registry.ts";

/** Everything the plugins contributed; the arrays fill while plugins are set up and are complete afterwards. */
export interface Gathered {
  readonly routes: OwnedRoute[];
  readonly filters: OwnedFilter[];
  readonly tools: (OwnedTool & { readonly plugin: string })[];
  readonly providers: { readonly provider: ModelProvider; isEnabled(): boolean }[];
  readonly jobs: { readonly plugin: string; readonly job: Job; isEnabled(): boolean }[];
  readonly sockets: OwnedSocketHandler[];
  readonly plugins: GatheredPlugin[];
  /** Plugins that were found and are not set up. */
  readonly omissions: Omission[];
  /** The fills of each slot, by the slot's id. */
  readonly slots: Map<string, unknown[]>;
  /** By resource type: which of some ids exist. */
  readonly resources: Record<string, ExistingResources[string]>;
}

/** A plugin that was set up, with all that it contributed. */
export interface GatheredPlugin {
  readonly plugin: AnyPlugin;
  readonly contributions: Contributions;
  isEnabled(): boolean;
  /** Why it could not be started; undefined when it was. */
  failure(): string | undefined;
}

/** Empty registries, to be filled by the host; `omissions` are the plugins that were left out before. */
export function createGathered(omissions: Omission[] = []): Gathered {
  return {
    routes: [],
    filters: [],
    tools: [],
    providers: [],
    jobs: [],
    sockets: [],
    plugins: [],
    omissions,
    slots: new Map(),
    resources: {},
  };
}
