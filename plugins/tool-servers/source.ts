import type { Slot } from "#kernel/service.ts";
import type { Tool, ToolSelection, ToolSource } from "#kernel/tools/tool.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { ToolServerConnection, ToolServerKind, ToolServers } from "./service.ts";

export interface SourceOptions {
  readonly servers: ToolServers;
  readonly kinds: Slot<ToolServerKind>;
  readonly log: Logger;
}

/** Milliseconds that a reply waits for the functions of a server that nobody has asked yet. */
const patience = 15_000;

/** The one source of the tools of servers: grants are checked before any kind is asked (promise S55). */
export function createServerSource({ servers, kinds, log }: SourceOptions): ToolSource {
  const granted = async ({ principal, toolIds }: ToolSelection) =>
    toolIds.length === 0
      ? []
      : (await servers.readable(principal)).filter(({ toolId }) => toolIds.includes(toolId));

  const toolsOf = async (server: ToolServerConnection, selection: ToolSelection) => {
    const { toolId, type, name } = server;
    const onProblem = (text: string) => selection.onProblem?.({ toolId, text });
    const kind = kinds.list().find((each) => each.type === type);
    if (kind === undefined) {
      onProblem(`The tool server "${name}" cannot be used here: nothing on this server speaks ${type}.`);
      return [];
    }
    const { principal, run } = selection;
    try {
      const signal = AbortSignal.timeout(patience);
      const tools = await kind.tools(server, { principal, run, signal, onProblem });
      return tools.map((tool): Tool => ({ ...tool, id: toolId, server: name, isExternal: true }));
    } catch (error) {
      log.warn({ err: error, server: toolId }, "a tool server offers nothing");
      onProblem(toProblem(name, error));
      return [];
    }
  };

  return {
    id: "tool-servers",
    granted: async (selection) => (await granted(selection)).map(({ toolId }) => toolId),
    async select(selection) {
      const asked = await granted(selection);
      return (await Promise.all(asked.map((server) => toolsOf(server, selection)))).flat();
    },
  };
}

function toProblem(name: string, error: unknown): string {
  const why = error instanceof AppError ? error.message : "it could not be read";
  return `The tools of "${name}" are missing: ${why}`;
}
