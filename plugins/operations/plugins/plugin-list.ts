import type { ConfigRegistry } from "#config/registry.ts";
import type { PluginRecord } from "#kernel/plugin-records.ts";
import type { HostRecords } from "#kernel/services.ts";
import { listServices, type ServiceRecord } from "./service-list.ts";

/** A plugin with the switch that turns it off and on. */
export interface ListedPlugin extends PluginRecord {
  readonly switch: {
    readonly variable: string;
    /** It can be changed while the server runs. */
    readonly live: boolean;
    readonly value: boolean;
  } | null;
}

export interface PluginList {
  readonly plugins: readonly ListedPlugin[];
  readonly services: readonly ServiceRecord[];
  /** PLUGINS_DISABLED as it is now. */
  readonly disabled: readonly string[];
  /** PLUGINS_PATH as it is now. */
  readonly path: string | null;
}

export interface PluginListParts {
  readonly records: Pick<HostRecords, "plugins">;
  readonly configuration: Pick<ConfigRegistry, "describe" | "valueOf">;
}

/** The plugins of this server with what they bring, and who provides which service. */
export function createPluginList({ records, configuration }: PluginListParts): () => PluginList {
  return () => {
    const settings = new Map(configuration.describe().map((setting) => [setting.name, setting]));
    const toSwitch = ({ switches }: PluginRecord): ListedPlugin["switch"] => {
      const setting = switches.length === 1 ? settings.get(switches[0] as string) : undefined;
      return setting?.kind === "bool"
        ? {
            variable: setting.name,
            live: setting.persisted && !setting.readOnly,
            value: setting.value === true,
          }
        : null;
    };
    const found = records.plugins();
    return {
      plugins: found
        .map((record) => ({ ...record, switch: toSwitch(record) }))
        .toSorted((a, b) => a.title.localeCompare(b.title, "en")),
      services: listServices(found),
      disabled: configuration.valueOf("PLUGINS_DISABLED") as string[],
      path: configuration.valueOf("PLUGINS_PATH") as string | null,
    };
  };
}
