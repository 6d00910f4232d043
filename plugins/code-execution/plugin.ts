import { isMember, type Principal } from "#kernel/access/principal.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { blobs, configuration, deployment, egress, events, toolRegistry } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { chats } from "#plugins/chats/service.ts";
import { files } from "#plugins/files/service.ts";
import { codeInterpreters } from "#plugins/runs/service.ts";
import { configParts } from "#plugins/settings/service.ts";
import { type CodeSettings, codeVariables, toInterpreterEngine, toServer } from "./config.ts";
import { createInterpreter } from "./interpreter.ts";
import { createPackages } from "./browser/packages.ts";
import { pyodideRoutes } from "./browser/routes.ts";
import { pyodideVersion, readOwnLock } from "./browser/runtime.ts";
import { configRoutes } from "./config-routes.ts";
import { createJupyter, type Jupyter } from "./jupyter/jupyter.ts";
import { codeRoutes } from "./routes.ts";
import { createSharedFiles } from "./shared-files.ts";
import { createCodeTools } from "./tool.ts";

export default definePlugin({
  id: "code-execution",
  title: "Code execution",
  summary: "Runs Python in people's browsers or on a Jupyter server.",
  config: codeVariables,
  uses: { blobs, chats, configuration, deployment, egress, events, files, hub, tools: toolRegistry },
  enabled: (config) => config.enabled,
  whenOff: 403,

  setup({ config, use, log }) {
    const { egress, blobs } = use;
    const packages = createPackages({ egress, blobs, log, readOwnLock, index: () => config.packageIndex });
    const jupyter = createJupyter(use.egress, use.deployment.databaseId);
    const shared = createSharedFiles(use);
    const changed = ({ userId: id, name, email, role }: Principal) =>
      use.events.announce("config.code_execution.updated", {
        actor: { id, name, email, role },
        subject: null,
      });
    return {
      routes: {
        main: pyodideRoutes(packages),
        api: [
          ...codeRoutes({ settings: config, jupyter, chats: use.chats }),
          ...configRoutes({ settings: config, configuration: use.configuration, changed }),
        ],
      },
      tools: [createCodeTools({ settings: config, jupyter, hub: use.hub, files: shared })],
      jobs: [
        {
          id: "code-execution.kernels",
          title: "Stops idle Python kernels",
          every: 60,
          run: () => reap(config, jupyter),
        },
      ],
      fills: [
        fill(codeInterpreters, createInterpreter({ settings: config, tools: use.tools })),
        fill(configParts, (caller) => (caller && isMember(caller) ? toPublic(config) : {})),
      ],
    };
  },
});

/** What browsers need to know. */
function toPublic(config: CodeSettings) {
  return {
    code: {
      interpreter_engine: toInterpreterEngine(config),
      timeout: config.browserTimeout,
      memory: config.browserMemory,
      pyodide: pyodideVersion,
    },
  };
}

async function reap(config: CodeSettings, jupyter: Jupyter): Promise<void> {
  const servers = [
    ...(config.engine === "jupyter" ? [toServer(config, "blocks")] : []),
    ...(toInterpreterEngine(config) === "jupyter" ? [toServer(config, "models")] : []),
  ].filter((server) => server !== undefined);
  const distinct = new Map(servers.map((server) => [server.url, server]));
  for (const server of distinct.values()) {
    await jupyter.reap(server, config.idleSeconds * 1000);
  }
}
