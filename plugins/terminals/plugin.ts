import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration, egress, events } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { socketRoutes } from "#kernel/sockets/route.ts";
import { chatAccess, promptSources, terminalAccess } from "#plugins/completions/service.ts";
import { configParts } from "#plugins/settings/service.ts";
import { openApi } from "#plugins/tool-servers/service.ts";
import { createAdmission } from "./admission.ts";
import { terminalVariables } from "./config.ts";
import { createDocuments } from "./connections/documents.ts";
import { configRoutes } from "./connections/routes.ts";
import { createTerminals } from "./connections/terminals.ts";
import { createTerminalSessions } from "./migrations/0001_sessions.ts";
import { createProxy } from "./proxy/proxy.ts";
import { createSessions } from "./proxy/sessions.ts";
import { terminalSocket } from "./proxy/socket.ts";
import { createWatch } from "./proxy/watch.ts";
import { terminalRoutes } from "./routes.ts";
import { createPromptSource } from "./tools/prompt.ts";
import { createTerminalSource } from "./tools/source.ts";
import type { TerminalTables } from "./tables.ts";

export default definePlugin({
  id: "terminals",
  title: "Terminals",
  summary: "Shells and files on terminal servers, for people and for models.",
  config: terminalVariables,
  uses: { access, chats: chatAccess, configuration, egress, events, hub: optional(hub) },
  tables: tables<TerminalTables>("terminal_session"),
  migrations: { "0001_sessions": createTerminalSessions },
  pages: [
    {
      id: "terminals.admin",
      path: "/admin/terminals",
      title: "Terminals",
      icon: "terminal",
      place: "admin",
      group: "models",
      order: 27,
      access: "admin",
    },
  ],
  setup({ config, use, db, log }) {
    const { egress, configuration } = use;
    const stored = () => config.connections;
    const terminals = createTerminals({ stored, passes: (principal) => use.access.passes(principal) });
    const documents = createDocuments(egress);
    const sessions = createSessions(db);
    const watch = createWatch((caller, id) => terminals.usable(caller).some((one) => one.id === id));
    const ownsChat = async (principal: Parameters<typeof terminals.usable>[0], chatId: string) => {
      const opened = await Promise.all(use.chats.list().map((chats) => chats.open(principal, chatId)));
      return opened.some((chat) => chat !== undefined);
    };
    const shared = { terminals, sessions, egress, watch, events: use.events };
    const proxy = createProxy({ ...shared, ownsChat, maxBytes: () => config.maxBytes });
    const forget = configuration.onChange((names) => {
      if (names.includes("TERMINAL_SERVER_CONNECTIONS")) {
        watch.checkAll();
      }
    });
    const callTimeout = () => configuration.valueOf("AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER") as number | null;
    const source = createTerminalSource({
      ...shared,
      documents,
      openapi: openApi,
      hub: use.hub,
      log,
      callTimeout,
    });
    return {
      tools: [source],
      routes: {
        api: [
          ...configRoutes({ configuration, egress, events: use.events, documents, terminals, stored }),
          ...terminalRoutes(terminals, proxy),
        ] as const,
      },
      jobs: [
        {
          id: "terminals.sessions",
          title: "Removes ended terminal sessions",
          every: () => 86_400,
          run: sessions.sweep,
        },
      ],
      fills: [
        fill(socketRoutes, terminalSocket({ ...shared, isEnabled: () => true })),
        fill(terminalAccess, createAdmission({ terminals, documents, egress })),
        fill(promptSources, createPromptSource({ terminals, documents })),
        fill(configParts, (caller) => {
          const isOffered = caller !== undefined && terminals.usable(caller).length > 0;
          return caller ? { features: { enable_terminal_servers: isOffered } } : {};
        }),
      ],
      stop: forget,
    };
  },
});
