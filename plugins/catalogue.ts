import type { ApiOfPlugin } from "#plugins/web/kit/client.ts";
import type { AnyPlugin } from "#kernel/plugin.ts";
import accounts from "./accounts/plugin.ts";
import approvals from "./approvals/plugin.ts";
import askUser from "./ask-user/plugin.ts";
import audit from "./audit/plugin.ts";
import chatTasks from "./chat-tasks/plugin.ts";
import chats from "./chats/plugin.ts";
import codeExecution from "./code-execution/plugin.ts";
import compaction from "./compaction/plugin.ts";
import connections from "./connections/plugin.ts";
import completions from "./completions/plugin.ts";
import directConnections from "./direct-connections/plugin.ts";
import docs from "./docs/plugin.ts";
import feedback from "./feedback/plugin.ts";
import files from "./files/plugin.ts";
import folders from "./folders/plugin.ts";
import functions from "./functions/plugin.ts";
import guide from "./guide/plugin.ts";
import mcp from "./mcp/plugin.ts";
import messages from "./messages/plugin.ts";
import models from "./models/plugin.ts";
import operations from "./operations/plugin.ts";
import pipelines from "./pipelines/plugin.ts";
import previews from "./previews/plugin.ts";
import providerCommon from "./provider-common/plugin.ts";
import providerMessage from "./provider-message/plugin.ts";
import providerRuntime from "./provider-runtime/plugin.ts";
import realtime from "./realtime/plugin.ts";
import responses from "./responses/plugin.ts";
import runs from "./runs/plugin.ts";
import sandbox from "./sandbox/plugin.ts";
import settings from "./settings/plugin.ts";
import taskList from "./task-list/plugin.ts";
import timeTools from "./time-tools/plugin.ts";
import toolServers from "./tool-servers/plugin.ts";
import tools from "./tools/plugin.ts";
import terminals from "./terminals/plugin.ts";
import usage from "./usage/plugin.ts";
import web from "./web/plugin.ts";
import workspaceTools from "./workspace-tools/plugin.ts";

/** Every plugin of this program; the host orders them by what they use. */
export const catalogue: readonly AnyPlugin[] = [
  accounts,
  approvals,
  askUser,
  audit,
  chatTasks,
  chats,
  codeExecution,
  compaction,
  completions,
  connections,
  directConnections,
  docs,
  feedback,
  files,
  folders,
  functions,
  guide,
  mcp,
  messages,
  models,
  operations,
  pipelines,
  previews,
  providerCommon,
  providerMessage,
  providerRuntime,
  realtime,
  responses,
  runs,
  sandbox,
  settings,
  taskList,
  timeTools,
  toolServers,
  tools,
  terminals,
  usage,
  web,
  workspaceTools,
];

/** Every call of the typed client, keyed "METHOD /path". */
export interface Api
  extends
    ApiOfPlugin<typeof accounts>,
    ApiOfPlugin<typeof approvals>,
    ApiOfPlugin<typeof askUser>,
    ApiOfPlugin<typeof audit>,
    ApiOfPlugin<typeof chatTasks>,
    ApiOfPlugin<typeof chats>,
    ApiOfPlugin<typeof codeExecution>,
    ApiOfPlugin<typeof compaction>,
    ApiOfPlugin<typeof completions>,
    ApiOfPlugin<typeof feedback>,
    ApiOfPlugin<typeof files>,
    ApiOfPlugin<typeof folders>,
    ApiOfPlugin<typeof functions>,
    ApiOfPlugin<typeof mcp>,
    ApiOfPlugin<typeof messages>,
    ApiOfPlugin<typeof models>,
    ApiOfPlugin<typeof operations>,
    ApiOfPlugin<typeof pipelines>,
    ApiOfPlugin<typeof previews>,
    ApiOfPlugin<typeof providerCommon>,
    ApiOfPlugin<typeof providerRuntime>,
    ApiOfPlugin<typeof realtime>,
    ApiOfPlugin<typeof runs>,
    ApiOfPlugin<typeof settings>,
    ApiOfPlugin<typeof toolServers>,
    ApiOfPlugin<typeof tools>,
    ApiOfPlugin<typeof terminals>,
    ApiOfPlugin<typeof usage>,
    ApiOfPlugin<typeof web>,
    ApiOfPlugin<typeof workspaceTools> {}
