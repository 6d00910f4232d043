import { access } from "#kernel/access/resource.ts";
import type { Page } from "#kernel/page.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration, ownListeners } from "#kernel/services.ts";
import { chats } from "#plugins/chats/service.ts";
import { chatRuns, taskModel } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { runAgents } from "#plugins/runs/service.ts";
import { webSearch } from "#plugins/web-search/service.ts";
import { join } from "node:path";
import { core } from "#config/core.ts";
import { createAgentSource } from "./agent/agent.ts";
import { RunListeners } from "./agent/listeners.ts";
import { createRunStore } from "./agent/gateway-runs.ts";
import { createSnapshots } from "./snapshots/snapshots.ts";
import { runRoutes } from "./workspaces/run-routes.ts";
import { fileRoutes } from "./workspaces/file-routes.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { createConfinement } from "./commands/confinement.ts";
import { killOrphans } from "./commands/stragglers.ts";
import { gatewayConfig } from "./config.ts";
import { createKeys } from "./keys/keys.ts";
import { keyRoutes } from "./keys/routes.ts";
import { createListener } from "./listener.ts";
import { createGateway } from "./migrations/0001_gateway.ts";
import { stateRoutes } from "./state-routes.ts";
import type { GatewayTables } from "./tables.ts";
import { type StreamTimes, streamTimes } from "./wire/reply-stream.ts";
import { wireRoutes } from "./wire/routes.ts";
import { createFolders, rootOf } from "./workspaces/folders.ts";
import { workspaceRoutes } from "./workspaces/routes.ts";
import { createWorkspaces } from "./workspaces/workspaces.ts";

const pages: readonly Page[] = [
  {
    id: "gateway",
    path: "/admin/gateway",
    title: "Gateway",
    icon: "terminal",
    place: "admin",
    group: "models",
    order: 66,
    access: "admin",
  },
  {
    id: "gateway.workspace",
    path: "/admin/gateway/:id",
    title: "Workspace",
    place: "hidden",
    access: "admin",
  },
];

export interface GatewayOptions {
  /** When a silent stream is closed; the specification's 300 s when left out. */
  readonly times?: StreamTimes;
}

/** The plugin; tests shorten its times. */
export const createGatewayPlugin = ({ times = streamTimes }: GatewayOptions = {}) =>
  definePlugin({
    id: "gateway",
    title: "Workspace gateway",
    summary: "Offers folders of this server as models: clients that chat with one have an agent work in it.",
    config: { ...gatewayConfig, maxBody: core.requestBodyMaxBytes },
    uses: {
      access,
      accounts,
      audit: optional(audit),
      chatRuns,
      chats,
      configuration,
      models,
      taskModel,
      web: optional(webSearch),
    },
    tables: tables<GatewayTables>("gateway_workspace", "gateway_key", "gateway_chat", "gateway_run"),
    migrations: { "0001_gateway": createGateway },
    pages,
    folders: (config) => ({ workspaces: rootOf(config) }),

    setup({ config, use, db, log }) {
      const folders = createFolders(config);
      const workspaces = createWorkspaces({ db, access: use.access, folders });
      const keys = createKeys(db, use.accounts);
      const confinement = createConfinement(config.commandPath);
      const runs = createRunStore(db, use.chats);
      const snapshots = createSnapshots(join(config.dataDir, "gateway-snapshots"));
      const listeners = new RunListeners();
      const choice = {
        models: use.models,
        settings: () => ({
          model: config.model,
          defaults: String(use.configuration.valueOf("DEFAULT_MODELS") ?? ""),
        }),
        openFolder: folders.open,
      };
      const parts = {
        ...use,
        db,
        log,
        workspaces,
        folders,
        runs,
        snapshots,
        confinement,
        listeners,
        times,
        settings: () => config,
      };
      const { listener, state, stop } = createListener({
        config,
        onConfigChange: (handler) => use.configuration.onChange(handler),
      });
      return {
        routes: {
          api: [
            ...stateRoutes({ ...use, config, confinement, root: folders.root, listener: state }),
            ...workspaceRoutes({ workspaces, snapshots, audit: use.audit }),
            ...fileRoutes(parts),
            ...runRoutes(parts),
            ...keyRoutes(keys, use.audit),
          ] as const,
          gateway: wireRoutes({ ...parts, keys, choice, maxBody: () => config.maxBody }),
        },
        fills: [fill(ownListeners, listener), fill(runAgents, createAgentSource(parts))],
        async start() {
          const ended = await killOrphans();
          if (ended > 0) {
            log.warn({ ended }, "commands of a process that died were ended");
          }
        },
        stop,
      };
    },
  });

export default createGatewayPlugin();
