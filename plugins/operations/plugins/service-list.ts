import type { PluginRecord } from "#kernel/plugin-records.ts";

/** A service with the plugin that provides it and those that could. */
export interface ServiceRecord {
  readonly id: string;
  /** Null while nothing provides it. */
  readonly provider: string | null;
  readonly users: readonly { readonly id: string; readonly optional: boolean }[];
  /** Plugins that provide it as well and are left out. */
  readonly candidates: readonly string[];
}

/** Every service that some plugin provides, by its id. */
export function listServices(plugins: readonly PluginRecord[]): ServiceRecord[] {
  const isRunning = ({ state }: PluginRecord) => state === "on" || state === "off";
  const ids = [...new Set(plugins.flatMap(({ provides }) => provides))].toSorted();
  return ids.map((id) => {
    const providers = plugins.filter(({ provides }) => provides.includes(id));
    const provider = providers.find(isRunning);
    return {
      id,
      provider: provider?.id ?? null,
      users: plugins
        .filter(isRunning)
        .flatMap((plugin) =>
          plugin.uses
            .filter((use) => use.id === id && use.kind !== "slot")
            .map(({ kind }) => ({ id: plugin.id, optional: kind === "optional" })),
        ),
      candidates: providers.filter((one) => one !== provider).map((one) => one.id),
    };
  });
}
