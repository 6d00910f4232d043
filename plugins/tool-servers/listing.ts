import { AppError } from "#kernel/errors.ts";
import type { Slot } from "#kernel/service.ts";
import type { ListedTool, ToolListing } from "#plugins/tools/service.ts";
import type { ToolServerKind, ToolServers } from "./service.ts";

export interface ListingOptions {
  readonly servers: ToolServers;
  readonly kinds: Slot<ToolServerKind>;
}

/** Milliseconds within which a server must tell its functions (core API, limits). */
const patience = 15_000;

/** Tool servers among the tools that people choose (contract §4.3); nobody outside is asked for the list. */
export function createListing({ servers, kinds }: ListingOptions): ToolListing {
  const kindOf = (type: string) => kinds.list().find((kind) => kind.type === type);
  return {
    async list(caller) {
      const readable = await servers.readable(caller);
      return await Promise.all(
        readable.map(async (server): Promise<ListedTool> => {
          const more = await kindOf(server.type)?.list?.(server, caller);
          return {
            id: server.toolId,
            user_id: server.toolId,
            name: server.name,
            description: server.description,
            meta: { description: server.description },
            server: { type: server.type },
            write_access: false,
            ...more,
          };
        }),
      );
    },
    async specs(caller, id, signal) {
      const server = (await servers.readable(caller)).find(({ toolId }) => toolId === id);
      const specs = server && kindOf(server.type)?.specs;
      // Core API, errors: an id that is not of an MCP server is as unknown as one of others. Another listing may know it.
      if (server === undefined || specs === undefined) {
        return undefined;
      }
      const limit = AbortSignal.timeout(patience);
      try {
        return await specs(server, caller, AbortSignal.any([signal, limit]));
      } catch (error) {
        signal.throwIfAborted();
        if (limit.aborted) {
          throw new AppError("timeout", `The tool server "${server.name}" did not answer within 15 seconds.`);
        }
        if (error instanceof AppError) {
          throw error;
        }
        throw new AppError("upstream", `The tool server "${server.name}" could not be asked.`, {
          cause: error,
        });
      }
    },
  };
}
