import type { Api } from "#plugins/catalogue.ts";
import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type McpServer, mcpServers } from "../servers.svelte.ts";

export type Offer = Api["GET /api/v1/mcp/:id/offer"]["answer"];
export type Prompt = Offer["prompts"][number];
export type Resource = Offer["resources"][number];

/** What one server offers, as far as it is known. */
export interface ServerOffer {
  readonly server: McpServer;
  readonly state: "loading" | "ready" | "sign_in" | "failed";
  readonly offer?: Offer;
  readonly failure?: string;
}

/** What all servers of the person offer to messages; each answers when it can. */
export class Offers {
  all = $state.raw<readonly ServerOffer[]>([]);

  async load(): Promise<void> {
    await mcpServers.load();
    this.all = mcpServers.all.map((one) => ({ server: one, state: one.isReady ? "loading" : "sign_in" }));
    await Promise.all(mcpServers.all.filter(({ isReady }) => isReady).map((one) => this.read(one)));
  }

  async read(one: McpServer): Promise<void> {
    this.#put({ server: one, state: "loading" });
    try {
      this.#put({
        server: one,
        state: "ready",
        offer: await server.call("GET /api/v1/mcp/:id/offer", { params: { id: one.id } }),
      });
    } catch (error) {
      const isSignIn = error instanceof ApiError && error.status === 401;
      this.#put({ server: one, state: isSignIn ? "sign_in" : "failed", failure: (error as Error).message });
    }
  }

  #put(entry: ServerOffer): void {
    this.all = this.all.map((each) => (each.server.id === entry.server.id ? entry : each));
  }
}

/** Whether every word of the query is in one of the texts. */
export function fits(query: string, ...texts: readonly string[]): boolean {
  const all = texts.join(" ").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
