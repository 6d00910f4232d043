import { server } from "#plugins/web/kit/server.ts";

/** An MCP server that the person may use. */
export interface McpServer {
  readonly id: string;
  readonly name: string;
  /** False when the person has to sign in first. */
  readonly isReady: boolean;
}

const prefix = "server:mcp:";

/** The MCP servers of the person, asked for when somebody first wants to know. */
class McpServers {
  all = $state.raw<readonly McpServer[]>([]);
  #isWanted = false;

  /** Begins to load; later calls share the answer. */
  want(): readonly McpServer[] {
    if (!this.#isWanted) {
      this.#isWanted = true;
      void this.load();
    }
    return this.all;
  }

  async load(): Promise<void> {
    const tools = (await server.call("GET /api/v1/tools/").catch(() => [])) as readonly {
      readonly id: string;
      readonly name: string;
      readonly authenticated?: boolean;
    }[];
    this.all = tools
      .filter(({ id }) => id.startsWith(prefix))
      .map(({ id, name, authenticated }) => ({
        id: id.slice(prefix.length),
        name,
        isReady: authenticated !== false,
      }));
  }
}

export const mcpServers = new McpServers();
