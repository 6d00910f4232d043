import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import { tools } from "#plugins/web/kit/stores/tools.svelte.ts";
import { can } from "../picker/model.ts";
import { models } from "../picker/models.svelte.ts";
import type { ServerChat } from "./server-chat.ts";
import type { ChosenTools } from "./types.ts";

type Bag = Readonly<Record<string, unknown>>;

export const noTools: ChosenTools = { toolIds: [], features: [], excluded: [], terminalId: undefined };

/** What a new chat with this model begins with: the model's `toolIds`, `defaultFeatureIds` and `terminalId`. */
export function defaultTools(modelId: string | undefined): ChosenTools {
  return models.find(modelId)?.tools ?? noTools;
}

/** What was chosen for a chat alone; undefined where nobody chose. */
export function readChosen({ chat }: ServerChat): ChosenTools | undefined {
  const { tool_ids: toolIds, features, excluded_tool_ids: excluded, terminal_id: terminalId } = chat as Bag;
  if (!Array.isArray(toolIds)) {
    return undefined;
  }
  const on = Object.entries((features ?? {}) as Bag).filter(([, isOn]) => isOn === true);
  return {
    toolIds: toolIds.filter((id) => typeof id === "string"),
    features: on.map(([name]) => name),
    excluded: Array.isArray(excluded) ? excluded.filter((id) => typeof id === "string") : [],
    terminalId: typeof terminalId === "string" ? terminalId : undefined,
  };
}

/** The keys of the stored chat. */
export const toStored = ({ toolIds, features, excluded, terminalId }: ChosenTools): Bag => ({
  tool_ids: toolIds,
  excluded_tool_ids: excluded,
  features: Object.fromEntries(features.map((name) => [name, true])),
  terminal_id: terminalId ?? null,
});

/** What of it can be served: a request that names a tool which is gone is refused as a whole (contract D.37). */
export function servable(chosen: ChosenTools, modelId: string | undefined): ChosenTools {
  if (tools.state !== "ready") {
    return chosen;
  }
  const known = new Set(tools.listed.map(({ id }) => id));
  const model = models.find(modelId);
  return {
    ...chosen,
    toolIds: chosen.toolIds.filter((id) => known.has(id)),
    features: wanted(chosen).filter((name) => tools.features.has(name) && can(model, name)),
    terminalId: tools.terminals.some(({ id }) => id === chosen.terminalId) ? chosen.terminalId : undefined,
  };
}

/** Features that are on for the chat, and memories where the person uses them in all chats. */
export function wanted({ features }: ChosenTools): readonly string[] {
  return settings.get("memory") ? [...new Set([...features, "memory"])] : features;
}
