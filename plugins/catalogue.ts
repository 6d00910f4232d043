import type { ApiOfPlugin } from "#plugins/web/kit/client.ts";
import type { AnyPlugin } from "#kernel/plugin.ts";
import accounts from "./accounts/plugin.ts";
import approvals from "./approvals/plugin.ts";
import apps from "./apps/plugin.ts";
import askUser from "./ask-user/plugin.ts";
import audit from "./audit/plugin.ts";
import channels from "./channels/plugin.ts";
import calendar from "./calendar/plugin.ts";
import audio from "./audio/plugin.ts";
import automations from "./automations/plugin.ts";
import backup from "./backup/plugin.ts";
import chatTasks from "./chat-tasks/plugin.ts";
import chats from "./chats/plugin.ts";
import codeExecution from "./code-execution/plugin.ts";
import compaction from "./compaction/plugin.ts";
import connections from "./connections/plugin.ts";
import completions from "./completions/plugin.ts";
import context from "./context/plugin.ts";
import directConnections from "./direct-connections/plugin.ts";
import docs from "./docs/plugin.ts";
import extraction from "./extraction/plugin.ts";
import feedback from "./feedback/plugin.ts";
import files from "./files/plugin.ts";
import folders from "./folders/plugin.ts";
import functions from "./functions/plugin.ts";
import gateway from "./gateway/plugin.ts";
import guide from "./guide/plugin.ts";
import images from "./images/plugin.ts";
import knowledge from "./knowledge/plugin.ts";
import ldap from "./ldap/plugin.ts";
import mcp from "./mcp/plugin.ts";
import memories from "./memories/plugin.ts";
import messages from "./messages/plugin.ts";
import mfa from "./mfa/plugin.ts";
import models from "./models/plugin.ts";
import notes from "./notes/plugin.ts";
import notifications from "./notifications/plugin.ts";
import oauth from "./oauth/plugin.ts";
import operations from "./operations/plugin.ts";
import pipelines from "./pipelines/plugin.ts";
import previews from "./previews/plugin.ts";
import prompts from "./prompts/plugin.ts";
import providerCommon from "./provider-common/plugin.ts";
import providerMessage from "./provider-message/plugin.ts";
import providerRuntime from "./provider-runtime/plugin.ts";
import realtime from "./realtime/plugin.ts";
import responses from "./responses/plugin.ts";
import retrieval from "./retrieval/plugin.ts";
import runs from "./runs/plugin.ts";
import sandbox from "./sandbox/plugin.ts";
import scim from "./scim/plugin.ts";
import skills from "./skills/plugin.ts";
import settings from "./settings/plugin.ts";
import subagents from "./subagents/plugin.ts";
import taskList from "./task-list/plugin.ts";
import timers from "./timers/plugin.ts";
import timeTools from "./time-tools/plugin.ts";
import toolServers from "./tool-servers/plugin.ts";
import tools from "./tools/plugin.ts";
import telemetry from "./telemetry/plugin.ts";
import terminals from "./terminals/plugin.ts";
import usage from "./usage/plugin.ts";
import web from "./web/plugin.ts";
import webSearch from "./web-search/plugin.ts";
import workspaceTools from "./workspace-tools/plugin.ts";

/** Every plugin of this program; the host orders them by what they use. */
export const catalogue: readonly AnyPlugin[] = [
  accounts,
  approvals,
  apps,
  askUser,
  audit,
  channels,
  calendar,
  audio,
  automations,
  chatTasks,
  chats,
  codeExecution,
  compaction,
  completions,
  connections,
  context,
  directConnections,
  docs,
  extraction,
  feedback,
  files,
  folders,
  functions,
  gateway,
  guide,
  images,
  knowledge,
  ldap,
  mcp,
  memories,
  messages,
  mfa,
  models,
  notes,
  notifications,
  oauth,
  backup,
  operations,
  pipelines,
  previews,
  prompts,
  providerCommon,
  providerMessage,
  providerRuntime,
  realtime,
  responses,
  retrieval,
  runs,
  sandbox,
  scim,
  settings,
  skills,
  subagents,
  taskList,
  telemetry,
  timers,
  timeTools,
  toolServers,
  tools,
  terminals,
  usage,
  web,
  webSearch,
  workspaceTools,
];

/** Every call of the typed client, keyed "METHOD /path". */
export interface Api
  extends
    ApiOfPlugin<typeof accounts>,
    ApiOfPlugin<typeof approvals>,
    ApiOfPlugin<typeof apps>,
    ApiOfPlugin<typeof askUser>,
    ApiOfPlugin<typeof audio>,
    ApiOfPlugin<typeof audit>,
    ApiOfPlugin<typeof channels>,
    ApiOfPlugin<typeof calendar>,
    ApiOfPlugin<typeof automations>,
    ApiOfPlugin<typeof chatTasks>,
    ApiOfPlugin<typeof chats>,
    ApiOfPlugin<typeof codeExecution>,
    ApiOfPlugin<typeof compaction>,
    ApiOfPlugin<typeof completions>,
    ApiOfPlugin<typeof feedback>,
    ApiOfPlugin<typeof files>,
    ApiOfPlugin<typeof folders>,
    ApiOfPlugin<typeof functions>,
    ApiOfPlugin<typeof gateway>,
    ApiOfPlugin<typeof images>,
    ApiOfPlugin<typeof knowledge>,
    ApiOfPlugin<typeof ldap>,
    ApiOfPlugin<typeof mcp>,
    ApiOfPlugin<typeof memories>,
    ApiOfPlugin<typeof messages>,
    ApiOfPlugin<typeof mfa>,
    ApiOfPlugin<typeof models>,
    ApiOfPlugin<typeof notes>,
    ApiOfPlugin<typeof notifications>,
    ApiOfPlugin<typeof oauth>,
    ApiOfPlugin<typeof backup>,
    ApiOfPlugin<typeof operations>,
    ApiOfPlugin<typeof pipelines>,
    ApiOfPlugin<typeof previews>,
    ApiOfPlugin<typeof prompts>,
    ApiOfPlugin<typeof providerCommon>,
    ApiOfPlugin<typeof providerRuntime>,
    ApiOfPlugin<typeof realtime>,
    ApiOfPlugin<typeof retrieval>,
    ApiOfPlugin<typeof runs>,
    ApiOfPlugin<typeof scim>,
    ApiOfPlugin<typeof settings>,
    ApiOfPlugin<typeof skills>,
    ApiOfPlugin<typeof subagents>,
    ApiOfPlugin<typeof telemetry>,
    ApiOfPlugin<typeof timers>,
    ApiOfPlugin<typeof toolServers>,
    ApiOfPlugin<typeof tools>,
    ApiOfPlugin<typeof terminals>,
    ApiOfPlugin<typeof usage>,
    ApiOfPlugin<typeof web>,
    ApiOfPlugin<typeof webSearch>,
    ApiOfPlugin<typeof workspaceTools> {}
