import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import type { CommandResult } from "../../commands/run-command.ts";
import { type AgentPlace, keptCommandOutput, numberOf, runIn, schemaOf, shorten, textOf } from "./place.ts";

const usualSeconds = 120;
const mostSeconds = 600;
const longestCommand = 100_000;

/** Tools that run commands and load pages. */
export function runTools(place: AgentPlace): Tool[] {
  const command = defineTool({
    id: "gateway.run_command",
    title: "Run a command",
    spec: {
      name: "run_command",
      description:
        "Runs a shell command in the workspace and answers its exit code and output. There is no input, and nothing goes on running afterwards.",
      parameters: schemaOf({
        command: { type: "string", description: "The command, as for sh -c" },
        timeout: {
          type: "integer",
          description: `Seconds after which it is ended; ${usualSeconds} when left out, at most ${mostSeconds}`,
          optional: true,
        },
      }),
    },
    async run(given, { signal }) {
      const seconds = numberOf(given, "timeout", { least: 1, most: mostSeconds, otherwise: usualSeconds });
      return describe(await runShell(place, textOf(given, "command"), { seconds, signal }), seconds);
    },
  });
  const { web } = place;
  return web === undefined ? [command] : [command, fetchTool(web)];
}

/** Runs one command line of a person or a model. */
export function runShell(
  place: AgentPlace,
  command: string,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<CommandResult> {
  if (command.trim() === "" || command.length > longestCommand || command.includes("\u0000")) {
    throw new AppError("invalid", `command: from 1 to ${longestCommand} characters, without NUL.`);
  }
  return runIn(place, ["/bin/sh", "-c", command], {
    timeoutMs: seconds * 1000,
    signal,
    keptChars: keptCommandOutput,
  });
}

function describe({ exitCode, output, ended }: CommandResult, seconds: number): string {
  const why = {
    timeout: `It ran longer than ${seconds} seconds and was ended. It gets no input; give it more time or run a part of it.`,
    output: "It printed too much and was ended.",
    processes: "It started too many processes and was ended.",
    memory: "It took too much memory and was ended.",
  };
  const head = ended === undefined ? `Exit code: ${exitCode ?? "none, a signal ended it"}` : why[ended];
  return `${head}\n${output || "(no output)"}`;
}

function fetchTool(web: NonNullable<AgentPlace["web"]>): Tool {
  return defineTool({
    id: "gateway.fetch_page",
    title: "Load a web page",
    isParallel: true,
    spec: {
      name: "fetch_page",
      description: "Loads a page of the web as text. Private addresses are refused.",
      parameters: schemaOf({ url: { type: "string", description: "An http or https address" } }),
    },
    async run(given, { signal }) {
      const { title, finalUrl, content } = await web.load(textOf(given, "url"), signal);
      return shorten(`${title}\n${finalUrl}\n\n${content}`, "The rest of the page is not shown.");
    },
  });
}
