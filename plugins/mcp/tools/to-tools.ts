import type { Tool as ServerTool } from "@modelcontextprotocol/sdk/types.js";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import { isNameAllowed } from "#plugins/tool-servers/service.ts";
import type { ServerSession } from "../sessions.ts";
import { askInChat } from "./elicitation.ts";
import { toRevision, toToolName } from "./names.ts";
import { toOutput, truncate } from "./results.ts";

export interface ToToolsParts {
  readonly hub: Pick<Hub, "ask"> | undefined;
  /** Milliseconds for one call; null for no limit. */
  timeoutMs(): number | null;
}

const mostDescription = 8_000;

/** The tools of one server for one person. */
export function toTools(
  listed: readonly ServerTool[],
  session: ServerSession,
  { hub, timeoutMs }: ToToolsParts,
): Tool[] {
  const { id, toolId, name: server } = session.server;
  const allowed = listed.filter(({ name }) => isNameAllowed(session.server, name));
  return allowed.map((tool) => ({
    id: toolId,
    isExternal: true,
    isParallel: tool.annotations?.readOnlyHint === true,
    isActing: tool.annotations?.readOnlyHint !== true || tool.annotations.destructiveHint === true,
    title: tool.title ?? tool.annotations?.title ?? tool.name,
    server,
    revision: toRevision(tool),
    spec: {
      name: toToolName(id, tool.name),
      description: (tool.description ?? "").slice(0, mostDescription),
      parameters: tool.inputSchema,
    },
    async run(parameters, context) {
      context.signal.throwIfAborted();
      const call = { name: tool.name, arguments: parameters };
      const limit = timeoutMs();
      const result = await session.use(
        (connection) =>
          connection.call(call, {
            signal: context.signal,
            timeoutMs: limit,
            person: context.principal.userId,
            onProgress: (progress) => context.call?.showProgress(toProgress(progress)),
            elicit: (params, signal) => askInChat({ params, server, signal }, context, hub),
          }),
        context.signal,
      );
      return toOutput(result);
    },
  }));
}

function toProgress({ progress, total, message }: { progress: number; total?: number; message?: string }) {
  return {
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message: truncate(message).slice(0, 500) }),
  };
}
