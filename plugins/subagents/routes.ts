import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { subagentVariables } from "./config.ts";
import type { SubagentParts } from "./parts.ts";
import { SubagentRecord, toRecord } from "./record.ts";
import type { Rows } from "./rows.ts";

type Field = keyof typeof subagentVariables;
const fields = Object.keys(subagentVariables) as Field[];
const shapeOf = (optional: boolean) =>
  Object.fromEntries(
    fields.map((field) => {
      const { name, schema } = subagentVariables[field];
      return [name, optional ? schema.nullish() : schema];
    }),
  );

const Form = z.object(shapeOf(true));
const View = z.object(shapeOf(false)).meta({ id: "SubagentsConfig" });

/** Sub-agents of a chat, and their settings (contract §9). */
export function subagentRoutes(
  { chats, settings }: Pick<SubagentParts, "chats" | "settings">,
  { rows, configuration }: { rows: Rows; configuration: Pick<ConfigRegistry, "set"> },
) {
  const view = () =>
    Object.fromEntries(fields.map((field) => [subagentVariables[field].name, settings()[field]]));
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/:id/subagents",
        summary: "The sub-agents that a chat asked, oldest first; the newest 500",
        access: "user",
        params: z.object({ id: z.string().min(1).max(200) }),
        returns: z.array(SubagentRecord),
        fails: [404],
        alwaysOn: true,
      },
      async ({ caller, params }) => {
        const { id } = await chats.require(caller, params.id);
        return (await rows.ofChat(id)).map(toRecord);
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/configs/subagents",
        summary: "Read the settings of sub-agents",
        access: "admin",
        returns: View,
        alwaysOn: true,
      },
      view,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/subagents",
        summary: "Change the settings of sub-agents; what is left out stays",
        access: "admin",
        body: Form,
        returns: View,
        fails: [400, 422],
        alwaysOn: true,
      },
      async ({ body, caller }) => {
        const given = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
        await configuration.set(Object.fromEntries(given), caller.userId);
        return view();
      },
    ),
  ] as const;
}
