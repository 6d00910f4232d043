import { toolOutput } from "#kernel/tools/output.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import { grepTool, toNumber, viewTool } from "#plugins/files/service.ts";
import type { FoundPassage } from "#plugins/retrieval/service.ts";
import { requireQuery } from "./collection-tools.ts";
import { common, findFiles, narrow, toReadable, type ToolScope } from "./knowledge-files.ts";

const one = { type: "string", description: "Searches this collection alone" } as const;
const maxQuery = 2_000;

/** Finds files by name. */
export function searchFilesTool(scope: ToolScope): Tool {
  return defineTool({
    ...common,
    id: "knowledge.search_knowledge_files",
    title: "Find files in the knowledge",
    spec: {
      name: "search_knowledge_files",
      description:
        "Finds files of the knowledge by a part of their name; an empty query lists them all. It does not look into them.",
      parameters: {
        type: "object",
        properties: {
          query: { type: "string", maxLength: maxQuery, default: "" },
          knowledge_id: one,
          count: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          skip: { type: "integer", minimum: 0, default: 0 },
        },
        required: [],
      },
    },
    async run(parameters, { principal }) {
      const { query, knowledge_id: named, count, skip } = parameters;
      const found = await narrow(scope, principal, named);
      return await findFiles(scope, found, {
        text: typeof query === "string" ? query.trim().slice(0, maxQuery) : "",
        limit: toNumber(count, { standard: 20, min: 1, max: 100 }),
        offset: toNumber(skip, { standard: 0, min: 0, max: 1_000_000 }),
      });
    },
  });
}

/** Finds lines by a pattern, with the same search as in the files of a chat. */
export function grepFilesTool(scope: ToolScope): Tool {
  const { spec } = grepTool(toReadable(scope, undefined));
  const properties = spec.parameters["properties"] as Record<string, unknown>;
  return defineTool({
    ...common,
    id: "knowledge.grep_knowledge_files",
    title: "Find lines in the knowledge",
    spec: {
      name: "grep_knowledge_files",
      description: spec.description.replace("the chat's files", "the files of the knowledge"),
      parameters: { ...spec.parameters, properties: { ...properties, knowledge_id: one } },
    },
    run: (parameters, context) =>
      grepTool(toReadable(scope, parameters["knowledge_id"])).run(parameters, context),
  });
}

/** Reads a file of the knowledge; `view_file` for files that stand in no collection, by the same rules. */
export function viewFileTool(scope: ToolScope, name: "view_knowledge_file" | "view_file"): Tool {
  const tool = viewTool(toReadable(scope, undefined));
  return defineTool({
    ...common,
    id: `knowledge.${name}`,
    title: "Read a file",
    spec: { ...tool.spec, name, description: `${tool.spec.description} The file is one of the knowledge.` },
    run: (parameters, context) => tool.run(parameters, context),
  });
}

/** Finds the passages that a question is about (appendix A7). */
export function queryFilesTool(scope: ToolScope): Tool | undefined {
  const { index } = scope.parts;
  return (
    index &&
    defineTool({
      ...common,
      id: "knowledge.query_knowledge_files",
      title: "Search the knowledge",
      spec: {
        name: "query_knowledge_files",
        description:
          "Finds the passages of the knowledge that fit a question best. Read on around one with view_knowledge_file.",
        parameters: {
          type: "object",
          properties: {
            query: { type: "string", maxLength: maxQuery },
            knowledge_ids: {
              type: "array",
              items: { type: "string" },
              description: "Searches these collections alone",
            },
            count: { type: "integer", minimum: 1, maximum: 20, default: 5 },
          },
          required: ["query"],
        },
      },
      async run(parameters, { principal, signal }) {
        const query = requireQuery(parameters["query"]);
        const { collections, files } = await narrow(scope, principal, parameters["knowledge_ids"]);
        const { passages } = await index.search({
          scope: { files: files.map(({ id }) => id), collections: collections.map(({ id }) => id) },
          queries: [query],
          settings: { topK: toNumber(parameters["count"], { standard: 5, min: 1, max: 20 }) },
          signal,
        });
        return toolOutput({ value: passages.map(toValue), sources: toSources(passages) });
      },
    })
  );
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

function toValue({ content, name, fileId, page, score }: FoundPassage) {
  return {
    content,
    source: name,
    file_id: fileId ?? null,
    ...(page !== undefined && { page }),
    distance: round(score),
  };
}

/** Passages of one file are one source (contract §3.4). */
function toSources(passages: readonly FoundPassage[]) {
  return [...Map.groupBy(passages, ({ sourceId }) => sourceId).values()].map((group) => {
    const { fileId, sourceId, name } = group[0] as FoundPassage;
    return {
      source: { id: fileId ?? sourceId, name, type: "file" },
      document: group.map(({ content }) => content),
      metadata: group.map((passage) => ({
        source: name,
        name,
        ...(passage.fileId !== undefined && { file_id: passage.fileId }),
        // Clients count pages of `page` from 0, as loaders of documents do; the label is what people read.
        ...(passage.page !== undefined && { page: passage.page - 1, page_label: String(passage.page) }),
        ...(passage.headings.length > 0 && { headings: passage.headings }),
        start: passage.start,
        end: passage.end,
        score: round(passage.score),
      })),
      distances: group.map(({ score }) => round(score)),
    };
  });
}
