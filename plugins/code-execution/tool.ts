import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { type ToolOutput, toolOutput } from "#kernel/tools/output.ts";
import type { Tool, ToolContext, ToolRun, ToolSource } from "#kernel/tools/tool.ts";
import { runInBrowser } from "./browser-run.ts";
import { type CodeSettings, type JupyterServer, toInterpreterEngine, toServer } from "./config.ts";
import type { Jupyter } from "./jupyter/jupyter.ts";
import type { RunResult } from "./run-result.ts";
import type { SharedFiles } from "./shared-files.ts";

export interface CodeRunnerParts {
  readonly settings: CodeSettings;
  readonly jupyter: Jupyter;
  readonly hub: Pick<Hub, "ask">;
  readonly files: SharedFiles;
}

/** The tool that models run code with. */
export const codeToolId = "code.execute_code";
const maxCode = 200_000;

/** Where code of models runs, as they read it. */
export const descriptions = {
  pyodide:
    "Runs Python in the user's browser (Pyodide: the standard library; packages such as numpy, pandas and matplotlib where they are offered, without network) and returns what it prints and the value of its last expression.",
  jupyter: "Runs Python on a Jupyter server and returns what it prints and the value of its last expression.",
};
/** How the code of a chat works together, as models read it. */
export const usage =
  "Variables stay until the next call in this chat. The files of the chat lie in the working folder; files that the code writes there and plots are shown to the user.";

/** Offers `execute_code` (contract §3.6 and A7) to runs, each with the files that its request names. */
export function createCodeTools(parts: CodeRunnerParts): ToolSource {
  return {
    id: "code-execution",
    granted: async () => [],
    select: async ({ run }) => (isOffered(parts.settings, run) ? [toTool(parts, run)] : []),
  };
}

function isOffered(settings: CodeSettings, run: ToolRun | undefined): boolean {
  if (!settings.interpreterEnabled) {
    return false;
  }
  return toInterpreterEngine(settings) === "jupyter"
    ? toServer(settings, "models") !== undefined
    : run === undefined || Boolean(run.sessionId);
}

function toTool(parts: CodeRunnerParts, run: ToolRun | undefined): Tool {
  const named = run?.request.files;
  return {
    id: codeToolId,
    title: "Python",
    spec: {
      name: "execute_code",
      description: `${descriptions[toInterpreterEngine(parts.settings)]} ${usage}`,
      parameters: {
        type: "object",
        properties: { code: { type: "string", description: "Python code" } },
        required: ["code"],
      },
    },
    category: "code_interpreter",
    feature: "code_interpreter",
    permission: "features.code_interpreter",
    // In a browser, Python has no network and no files but those of the chat.
    isActing: toInterpreterEngine(parts.settings) === "jupyter",
    async run({ code }, context) {
      const result = await runCode(parts, { code, context, named: Array.isArray(named) ? named : [] });
      return toOutput(result);
    },
  };
}

/** Code of a model with what it may use. */
export interface ModelCode {
  readonly code: unknown;
  readonly context: ToolContext;
  /** The request's `files`. */
  readonly named: readonly unknown[];
}

/** Runs code of a model where the settings say. */
export async function runCode(
  parts: CodeRunnerParts,
  { code, context, named }: ModelCode,
): Promise<RunResult> {
  if (typeof code !== "string" || code.trim() === "" || code.length > maxCode) {
    throw new AppError("invalid", `code: must be Python of 1 to ${maxCode} characters.`);
  }
  const { settings, files, jupyter } = parts;
  const { principal, chatId, messageId, sessionId, signal, call } = context;
  const timeoutMs = settings.interpreterTimeout * 1000;
  const find = () => files.find({ principal, chatId, messageId, named });
  if (toInterpreterEngine(settings) === "jupyter") {
    const place = chatId ? { userId: principal.userId, chatId } : undefined;
    const server = requireServer(toServer(settings, "models"));
    const read = async () => await files.read(await find());
    return await jupyter.run({ server, code, place, files: read, timeoutMs, signal });
  }
  if (!sessionId) {
    throw new AppError(
      "invalid",
      "session_id: Python runs in a browser here, so the session of one is needed.",
    );
  }
  const callId = call?.id ?? randomUUID();
  const given = await find();
  const take = (ids: readonly string[]) => files.take(principal, ids);
  const run = { principal, sessionId, chatId, messageId, callId, code, files: given, timeoutMs, signal };
  return await runInBrowser(parts.hub, take, run);
}

/** The server, where there is one. */
export function requireServer(server: JupyterServer | undefined): JupyterServer {
  if (server === undefined) {
    throw new AppError(
      "unavailable",
      "No Jupyter server is set: an administrator enters its address under Code execution.",
    );
  }
  return server;
}

/** What the model reads, and beside it what people see. */
function toOutput({ files, html, ...texts }: RunResult): ToolOutput {
  const shown = [
    ...(files.length > 0 ? [`files: ${files.map(({ name }) => name).join(", ")}`] : []),
    ...(html.length > 0 ? ["tables"] : []),
  ];
  return toolOutput({
    value: { ...texts, ...(shown.length > 0 && { shown_to_user: shown.join("; ") }) },
    files,
    embeds: html.map(toDocument),
  });
}

/** A fragment of a notebook as a document that reads well in a frame. */
function toDocument(fragment: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>${frameStyle}</style>${fragment}`;
}

const frameStyle =
  "body{font:14px/1.5 system-ui,sans-serif;margin:8px}table{border-collapse:collapse}th,td{padding:4px 10px;border-bottom:1px solid #8884;text-align:right}th{font-weight:600}svg{max-width:100%;height:auto}";
