import { createCodeValves } from "#plugins/functions/service.ts";
import { type FindTool, type ToolParts, toScript, toValvePlace } from "../parts.ts";
import { type ToolRow, updateToolValves } from "./tool-store.ts";

/** Settings of tools: those of the instance for those who may change the tool, a person's own for its users. */
export function createToolValves(parts: ToolParts, find: FindTool) {
  return createCodeValves<ToolRow>({
    ...parts,
    place: toValvePlace,
    find,
    findFor: (caller, id) => parts.tools.load(caller, id, "read"),
    load: async (row) => ({ row, script: toScript(row), facts: await parts.loadFacts(row) }),
    async save(_caller, row, { sealed, names }) {
      await updateToolValves(parts.db, row.id, sealed);
      await parts.record({
        action: "tool.valves_updated",
        object: { type: "tool", id: row.id, name: row.name },
        // Names alone: any value may be a secret.
        after: { valves: names },
      });
    },
  });
}
