import { createUrlLoader, valveRoutes } from "#plugins/functions/service.ts";
import type { ToolContext } from "./create-tools.ts";
import { createDecisions } from "./library/decisions.ts";
import type { Library } from "./library/library.ts";
import { createToolValves } from "./library/tool-valves.ts";
import { createTrial } from "./library/trial.ts";
import { createVersions } from "./library/versions.ts";
import type { FindTool, ToolParts } from "./parts.ts";
import { codeRoutes } from "./routes/code.ts";
import { toolRoutes } from "./routes/tools.ts";

/** Everything of workspace tools below `/api/v1/tools`. */
export function allRoutes(
  { config, use }: ToolContext,
  { parts, library }: { parts: ToolParts; library: Library },
) {
  const { tools, sandbox, accounts } = parts;
  const find: FindTool = (caller, id) => tools.load(caller, id, "write");
  const summaries = (ids: readonly string[]) => accounts.summaries(ids);
  const trial = createTrial({ ...parts, limits: () => config });
  return [
    ...codeRoutes({ versions: createVersions(parts.db, find), library, trial, sandbox, find, summaries }),
    ...toolRoutes({
      library,
      decisions: createDecisions(parts),
      loadUrl: createUrlLoader(use.egress),
      summaries,
    }),
    ...valveRoutes(createToolValves(parts, find), { base: "tools", noun: "tool", access: "user" }),
  ];
}
