import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";

const ChatConfig = z
  .record(z.string(), z.union([z.string(), z.boolean(), z.number(), z.null()]))
  .meta({ id: "ChatConfig" });

export interface ConfigRoutesOptions {
  readonly configuration: Pick<ConfigRegistry, "valueOf" | "set" | "reset">;
  /** Names of the persisted variables that the form holds. */
  names(): readonly string[];
}

/** The form of settings of chats (contract §3.7); null goes back to what the environment or the default says. */
export function configRoutes({ configuration, names }: ConfigRoutesOptions) {
  const read = () =>
    Object.fromEntries(names().map((name) => [name, configuration.valueOf(name)])) as z.output<
      typeof ChatConfig
    >;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/config",
        summary: "Read the settings of chats",
        access: "admin",
        returns: ChatConfig,
      },
      read,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/config",
        summary: "Change settings of chats",
        access: "admin",
        body: ChatConfig,
        returns: ChatConfig,
      },
      async ({ body, caller }) => {
        const known = new Set(names());
        const changes = Object.entries(body).filter(([name]) => known.has(name));
        const cleared = changes.filter(([, value]) => value === null).map(([name]) => name);
        const set = Object.fromEntries(changes.filter(([, value]) => value !== null));
        await configuration.set(set, caller.userId);
        if (cleared.length > 0) {
          await configuration.reset(cleared, caller.userId);
        }
        return read();
      },
    ),
  ];
}
