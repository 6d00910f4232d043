import { createCodeValves, createUrlLoader, valveRoutes } from "#plugins/functions/service.ts";
import type { ToolContext } from "./create-tools.ts";
import { createDecisions } from "./library/decisions.ts";
import type { Library } from "./library/library.ts";
import { type ToolRow, updateToolValves } from "./library/tool-store.ts";
import { createTrial } from "./library/trial.ts";
import { type FindTool, type ToolParts, toScript, toValvePlace } from "./parts.ts";
import { codeRoutes } from "./routes/code.ts";
import { toolRoutes } from "./routes/tools.ts";

/** Everything of workspace tools below `/api/v1/tools`. */
export function allRoutes(
  { config, use }: ToolContext,
  { parts, library }: { parts: ToolParts; library: Library },
) {
  const { db, tools, sandbox, accounts } = parts;
  const find: FindTool = (caller, id) => tools.load(caller, id, "write");
  const summaries = (ids: readonly string[]) => accounts.summaries(ids);
  const trial = createTrial({ ...parts, limits: () => config });
  return [
    ...codeRoutes({ db, library, trial, sandbox, find, summaries }),
    ...toolRoutes({
      library,
      decisions: createDecisions(parts),
      loadUrl: createUrlLoader(use.egress),
      summaries,
    }),
    ...valveRoutes(createToolValves(parts, find), { base: "tools", noun: "tool", access: "user" }),
  ];
}

/** Settings of tools: those of the instance for those who may change the tool, a person's own for its users. */
function createToolValves(parts: ToolParts, find: FindTool) {
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
