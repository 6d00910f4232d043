import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import { toNumber } from "#plugins/files/service.ts";
import { countFiles } from "../collections/collection-store.ts";
import type { CollectionRow } from "../tables.ts";
import { common, type ToolScope, toBase } from "./knowledge-files.ts";

const count = { type: "integer", minimum: 1, maximum: 100, default: 20 } as const;
const skip = { type: "integer", minimum: 0, default: 0 } as const;
const maxQuery = 2_000;

/** Names what a model or folder brings along. */
export function listAttachedTool(scope: ToolScope): Tool {
  return defineTool({
    ...common,
    id: "knowledge.list_knowledge",
    title: "List the knowledge",
    spec: {
      name: "list_knowledge",
      description:
        "Lists the collections and files that this conversation can be answered from, with the ids that the other tools need.",
      parameters: { type: "object", properties: {}, required: [] },
    },
    async run(_parameters, { principal }) {
      const { collections, files } = await scope.find(principal);
      return {
        knowledge_bases: await withCounts(scope, collections),
        files: files.map(({ id, filename }) => ({ file_id: id, filename })),
      };
    },
  });
}

/** Names the collections that the person may read. */
export function listBasesTool(scope: ToolScope): Tool {
  return defineTool({
    ...common,
    id: "knowledge.list_knowledge_bases",
    title: "List the collections",
    spec: {
      name: "list_knowledge_bases",
      description: "Lists the collections of files that the user may read, with their ids.",
      parameters: { type: "object", properties: { count, skip }, required: [] },
    },
    async run(parameters, { principal }) {
      const { collections } = await scope.find(principal);
      return await withCounts(scope, toPage(collections, parameters));
    },
  });
}

/** Finds collections by their names and descriptions. */
export function searchBasesTool(scope: ToolScope): Tool {
  return defineTool({
    ...common,
    id: "knowledge.search_knowledge_bases",
    title: "Find collections",
    spec: {
      name: "search_knowledge_bases",
      description: "Finds collections of files by words of their name or description.",
      parameters: {
        type: "object",
        properties: { query: { type: "string", maxLength: maxQuery }, count, skip },
        required: ["query"],
      },
    },
    async run(parameters, { principal }) {
      const words = requireQuery(parameters["query"]).toLowerCase().split(/\s+/);
      const { collections } = await scope.find(principal);
      const found = collections.filter(({ name, description }) => {
        const text = `${name}\n${description}`.toLowerCase();
        return words.every((word) => text.includes(word));
      });
      return await withCounts(scope, toPage(found, parameters));
    },
  });
}

/** Finds the collections whose files answer a question. */
export function queryBasesTool(scope: ToolScope): Tool | undefined {
  const { parts } = scope;
  const { index } = parts;
  return (
    index &&
    defineTool({
      ...common,
      id: "knowledge.query_knowledge_bases",
      title: "Find collections by a question",
      spec: {
        name: "query_knowledge_bases",
        description:
          "Finds the collections whose files fit a question best. Ask query_knowledge_files for the passages.",
        parameters: {
          type: "object",
          properties: { query: { type: "string", maxLength: maxQuery }, count },
          required: ["query"],
        },
      },
      async run(parameters, { principal, signal }) {
        const { collections } = await scope.find(principal);
        const { passages } = await index.search({
          scope: { files: [], collections: collections.map(({ id }) => id) },
          queries: [requireQuery(parameters["query"])],
          settings: { topK: 50 },
          signal,
        });
        const ids = passages.flatMap(({ fileId }) => fileId ?? []);
        const places = await placesOf(scope, ids, collections);
        const best = new Map<string, number>();
        for (const { fileId, score } of passages) {
          for (const id of places.get(fileId ?? "") ?? []) {
            best.set(id, Math.max(best.get(id) ?? 0, score));
          }
        }
        const ranked = collections
          .filter(({ id }) => best.has(id))
          .toSorted((a, b) => (best.get(b.id) ?? 0) - (best.get(a.id) ?? 0));
        const shown = await withCounts(scope, toPage(ranked, parameters));
        return shown.map((base) => ({ ...base, score: Math.round((best.get(base.id) ?? 0) * 1000) / 1000 }));
      },
    })
  );
}

async function placesOf(
  { parts }: ToolScope,
  fileIds: readonly string[],
  collections: readonly CollectionRow[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (fileIds.length === 0) {
    return new Map();
  }
  const rows = await parts.db
    .selectFrom("knowledge_file")
    .select(["file_id", "knowledge_id"])
    .where("file_id", "in", [...new Set(fileIds)])
    .where(
      "knowledge_id",
      "in",
      collections.map(({ id }) => id),
    )
    .execute();
  const byFile = Map.groupBy(rows, (row) => row.file_id);
  return new Map([...byFile].map(([id, places]) => [id, places.map((place) => place.knowledge_id)]));
}

async function withCounts({ parts }: ToolScope, rows: readonly CollectionRow[]) {
  const counts = await countFiles(
    parts.db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => toBase(row, counts.get(row.id)?.files ?? 0));
}

function toPage<T>(rows: readonly T[], parameters: Readonly<Record<string, unknown>>): T[] {
  const from = toNumber(parameters["skip"], { standard: 0, min: 0, max: 1_000_000 });
  return rows.slice(from, from + toNumber(parameters["count"], { standard: 20, min: 1, max: 100 }));
}

/** Throws `invalid`. */
export function requireQuery(query: unknown): string {
  if (typeof query !== "string" || query.trim() === "" || query.length > maxQuery) {
    throw new AppError("invalid", `query: is no text of 1 to ${maxQuery} characters.`);
  }
  return query.trim();
}
