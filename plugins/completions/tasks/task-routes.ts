import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";

const Settings = z
  .record(z.string(), z.union([z.string(), z.boolean(), z.number(), z.null()]))
  .meta({ id: "TaskSettings" });

export interface TaskRoutesOptions {
  readonly configuration: Pick<ConfigRegistry, "valueOf" | "set">;
  /** Names of the persisted variables that the form holds. */
  names(): readonly string[];
}

/** Reading and changing what concerns task models (contract §3.7, appendix A3). */
export function taskRoutes({ configuration, names }: TaskRoutesOptions) {
  const current = () =>
    Object.fromEntries(names().map((name) => [name, configuration.valueOf(name)])) as z.output<
      typeof Settings
    >;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/tasks/config",
        summary: "Read the settings of task models",
        access: "user",
        returns: Settings,
      },
      current,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/tasks/config/update",
        summary: "Change the settings of task models",
        access: "admin",
        body: Settings,
        returns: Settings,
      },
      async ({ body, caller }) => {
        const known = new Set(names());
        const given = Object.entries(body).filter(([name, value]) => known.has(name) && value !== null);
        await configuration.set(Object.fromEntries(given), caller.userId);
        return current();
      },
    ),
  ] as const;
}
