import { server } from "#plugins/web/kit/server.ts";
import type { Kind } from "./resource-id.ts";

/** Something that can be picked by its name. */
export interface Thing {
  readonly id: string;
  readonly name: string;
}

const listed: ReadonlySet<Kind> = new Set<Kind>(["model", "tool", "knowledge", "prompt", "skill"]);

/** Whether administrators see all things of a kind; chats, folders, calendars and notes are their owners' alone. */
export const isListed = (kind: Kind): boolean => listed.has(kind);

/** The things of a kind, by name; none where people keep them to themselves. */
export async function readThings(kind: Kind): Promise<readonly Thing[]> {
  const things = (await read(kind)).map(({ id, name }) => ({ id, name: name || id }));
  return things.toSorted((a, b) => a.name.localeCompare(b.name));
}

async function read(kind: Kind): Promise<readonly Thing[]> {
  switch (kind) {
    case "model": {
      const [saved, { data }] = await Promise.all([
        server.call("GET /api/v1/models/all"),
        server.call("GET /api/models/base"),
      ]);
      const provided = data.map((item) => ({ id: item.id, name: String(item["name"] ?? item.id) }));
      return [...new Map([...provided, ...saved].map((model) => [model.id, model])).values()];
    }
    case "tool":
      return await server.call("GET /api/v1/tools/list");
    case "knowledge":
      return (await server.call("GET /api/v1/knowledge/", { query: {} })).items;
    case "prompt":
      return await server.call("GET /api/v1/prompts/");
    case "skill":
      return await server.call("GET /api/v1/skills/");
    default:
      return [];
  }
}
