import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { AgentSource } from "#plugins/runs/service.ts";
import type { WebSearch } from "#plugins/web-search/service.ts";
import type { Confinement } from "../commands/confinement.ts";
import { type ConfinedFiles, confine } from "../files/confined.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import type { GatewayDatabase } from "../tables.ts";
import type { Folders } from "../workspaces/folders.ts";
import type { Workspace, Workspaces } from "../workspaces/workspaces.ts";
import { toInstructions } from "./instructions.ts";
import { type RunListeners, tellChunks } from "./listeners.ts";
import type { GatewayRun, RunStore } from "./gateway-runs.ts";
import { fileTools } from "./tools/file-tools.ts";
import type { AgentPlace, CommandSettings } from "./tools/place.ts";
import { runTools } from "./tools/run-tools.ts";
import { searchTools } from "./tools/search-tools.ts";

/** Most tool-calling turns of one reply (contract §12). */
const maxIterations = 2048;

export interface AgentParts {
  readonly db: GatewayDatabase;
  readonly workspaces: Workspaces;
  readonly folders: Folders;
  readonly runs: RunStore;
  readonly snapshots: Snapshots;
  readonly confinement: Confinement;
  readonly listeners: RunListeners;
  readonly web: Pick<WebSearch, "load"> | undefined;
  readonly audit: Audit | undefined;
  readonly log: Logger;
  settings(): CommandSettings & { readonly enabled: boolean };
}

/** The place of a workspace's agent. */
export async function openPlace(workspace: Workspace, parts: AgentParts): Promise<AgentPlace> {
  const files = confine(await parts.folders.open(workspace.folder));
  return { files, confinement: parts.confinement, web: parts.web, settings: parts.settings };
}

/** Writes the replies of chats that belong to a workspace, whether the gateway or the interface asks for them. */
export function createAgentSource(parts: AgentParts): AgentSource {
  const { db, workspaces, runs, listeners, confinement } = parts;
  return {
    async find({ principal, chat, messageId, modelId }) {
      const row = await db
        .selectFrom("gateway_chat")
        .select("workspace_id")
        .where("chat_id", "=", chat.id)
        .executeTakeFirst();
      if (row === undefined) {
        return undefined;
      }
      if (!parts.settings().enabled) {
        throw new AppError("unavailable", "The workspace gateway is switched off, so no agent works here.");
      }
      if (principal.role !== "admin") {
        throw new AppError("forbidden", "Only administrators have agents work in workspaces.");
      }
      const workspace = await workspaces.load(principal, row.workspace_id);
      const place = await openPlace(workspace, parts);
      const run = await runs.begin({ workspaceId: workspace.id, chatId: chat.id, messageId, modelId });
      const listener = listeners.of(messageId);
      try {
        const problem = await takeSnapshot(run, place.files, parts);
        const state = await confinement.check();
        const surroundings = { isConfined: state.isOn, hasNetwork: parts.settings().commandNetwork };
        const tools = [...fileTools(place), ...searchTools(place), ...runTools(place)];
        listener?.began();
        return {
          instructions: toInstructions(workspace, surroundings),
          maxIterations,
          tools: tools.map((tool) => toldTo(tool, () => listeners.of(messageId))),
          onChunks: (batch) => tellChunks(batch, listeners.of(messageId)),
          ended: (outcome) => finish(run, { ...outcome, problem }, { files: place.files, parts }),
        };
      } catch (error) {
        await finish(
          run,
          { error: String(error), isStopped: false, problem: "It did not begin." },
          { files: place.files, parts },
        );
        throw error;
      }
    },
  };
}

/** Resolves to what keeps the run from being undone. A reply that goes on keeps its first snapshot. */
async function takeSnapshot(
  run: GatewayRun,
  files: ConfinedFiles,
  { snapshots, log }: AgentParts,
): Promise<string | undefined> {
  const place = { workspaceId: run.workspace_id, runId: run.id };
  try {
    if (!(await snapshots.has(place))) {
      await snapshots.take(files, place);
    }
    return undefined;
  } catch (error) {
    log.warn({ err: error, run: run.id }, "the files of a workspace could not be kept before a run");
    return error instanceof AppError ? error.message : "The files could not be kept before the run.";
  }
}

interface Ended {
  readonly error: string | undefined;
  readonly isStopped: boolean;
  readonly problem: string | undefined;
}

async function finish(
  run: GatewayRun,
  { error, isStopped, problem }: Ended,
  { files, parts: { runs, snapshots, log } }: { files: ConfinedFiles; parts: AgentParts },
): Promise<void> {
  const place = { workspaceId: run.workspace_id, runId: run.id };
  const changes =
    problem === undefined
      ? await snapshots.compare(files, place).catch((failure: unknown) => {
          log.warn({ err: failure, run: run.id }, "the changes of a run could not be found");
          return undefined;
        })
      : undefined;
  const missing = changes === undefined ? (problem ?? "The changes could not be found.") : undefined;
  const status = isStopped ? "stopped" : error === undefined ? "done" : "failed";
  await runs.end(run.id, { status, error, changes, changesProblem: missing });
}

/** The tool, with the client of the reply told of every call. */
function toldTo(
  tool: Tool,
  listener: () => { tool(title: string, subject: string): void } | undefined,
): Tool {
  return {
    ...tool,
    run(parameters, context) {
      const [subject] = ["command", "path", "pattern", "url"].flatMap((name) => parameters[name] ?? []);
      listener()?.tool(
        tool.title ?? tool.spec.name,
        typeof subject === "string" ? subject.slice(0, 200) : "",
      );
      return tool.run(parameters, context);
    },
  };
}
