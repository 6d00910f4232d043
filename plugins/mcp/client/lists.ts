import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Prompt, Resource, Tool as ServerTool } from "@modelcontextprotocol/sdk/types.js";
import { loadSdk } from "../sdk.ts";
import { toServerError } from "./server-error.ts";

interface Listed {
  tools: ServerTool;
  prompts: Prompt;
  resources: Resource;
}

/** What a server offers of one kind, asked for when it is needed. */
export interface ListCache<K extends keyof Listed> {
  read(): Promise<readonly Listed[K][]>;
  /** The next reader asks the server. */
  forget(): void;
}

/** More than any model can choose from; a server whose pages never end is cut off here. */
const mostEntries = 2000;
const freshMs = 60_000;

/** Keeps a list for a minute, also for servers that do not tell of changes; readers at the same time share one request. */
export function createListCache<T>(list: () => Promise<readonly T[]> | readonly T[]) {
  let known: { readonly entries: Promise<readonly T[]>; readonly until: number } | undefined;
  return {
    read(): Promise<readonly T[]> {
      if (known === undefined || known.until < performance.now()) {
        const entries = Promise.resolve(list());
        const fresh = { entries, until: performance.now() + freshMs };
        entries.catch(() => {
          known = known === fresh ? undefined : known;
        });
        known = fresh;
      }
      return known.entries;
    },
    forget() {
      known = undefined;
    },
  };
}

export const listAll = {
  tools: (client: Client) =>
    gather(async (cursor) => {
      const { ListToolsResultSchema } = await loadSdk();
      const page = await client.request({ method: "tools/list", params: cursor }, ListToolsResultSchema);
      return { entries: page.tools, next: page.nextCursor };
    }),
  prompts: (client: Client) =>
    gather(async (cursor) => {
      const page = await client.listPrompts(cursor);
      return { entries: page.prompts, next: page.nextCursor };
    }),
  resources: (client: Client) =>
    gather(async (cursor) => {
      const page = await client.listResources(cursor);
      return { entries: page.resources, next: page.nextCursor };
    }),
};

interface Page<T> {
  readonly entries: readonly T[];
  readonly next: string | undefined;
}

async function gather<T>(page: (cursor: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  try {
    do {
      const { entries, next } = await page(cursor === undefined ? {} : { cursor });
      found.push(...entries);
      cursor = next !== undefined && !seen.has(next) ? next : undefined;
      seen.add(cursor ?? "");
    } while (cursor !== undefined && found.length < mostEntries);
  } catch (error) {
    throw toServerError(error);
  }
  return found.slice(0, mostEntries);
}
