import { server } from "#plugins/web/kit/server.ts";
import type { Place } from "./lab.svelte.ts";

/** Collections and files of the person, of which a question chooses. */
export class Places {
  found = $state.raw<readonly Place[]>();
  failure = $state<string>();
  readonly #names = new Map<string, string>();
  #asked = "";

  /** Finds by a part of the name; all, the latest first, for an empty text. */
  async find(text: string): Promise<void> {
    const query = text.trim();
    this.#asked = query;
    try {
      const [collections, files] = await Promise.all([findCollections(query), findFiles(query)]);
      const found = [...collections, ...files];
      found.forEach(({ id, name }) => this.#names.set(id, name));
      if (this.#asked === query) {
        this.found = found;
        this.failure = undefined;
      }
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  nameOf = (id: string): string | undefined => this.#names.get(id);
}

async function findCollections(query: string): Promise<Place[]> {
  const { items } = await server.call("GET /api/v1/knowledge/search", { query: { query } });
  return items.map(({ id, name }) => ({ kind: "collection", id, name }));
}

async function findFiles(query: string): Promise<Place[]> {
  const found = query === "" ? await listFiles() : await searchFiles(query);
  return found.map(({ id, filename }) => ({ kind: "file", id, name: filename }));
}

interface Found {
  readonly id: string;
  readonly filename: string;
}

async function listFiles(): Promise<readonly Found[]> {
  const page = await server.call("GET /api/v1/files/", { query: { content: "false" } });
  return (page as { readonly items: readonly Found[] }).items;
}

async function searchFiles(query: string): Promise<readonly Found[]> {
  const pattern = `*${query.replaceAll(/[*?]/g, "?")}*`;
  const wanted = { filename: pattern, content: "false", limit: "50" };
  const found = await server.find("GET /api/v1/files/search", { query: wanted });
  return (found ?? []) as readonly Found[];
}
