import { AppError } from "#kernel/errors.ts";
import { toolOutput } from "#kernel/tools/output.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import type { FileRecord, Passage } from "../service.ts";
import { type ChatFiles, common, textOf, toNumber, toSource } from "./chat-files.ts";
import { rankPassages } from "./rank-passages.ts";

const maxQuery = 2_000;

/** Finds the pieces of the chat's files that a question is about (appendix A7). */
export function queryTool(files: ChatFiles): Tool {
  return defineTool({
    ...common,
    id: "files.query_chat_files",
    title: "Search the files of the chat",
    spec: {
      name: "query_chat_files",
      description:
        "Finds the passages of the chat's files that fit a question best. Read on around one with view_file.",
      parameters: {
        type: "object",
        properties: {
          query: { type: "string", maxLength: maxQuery },
          count: { type: "integer", minimum: 1, maximum: 20, default: 5 },
          file_id: { type: "string", description: "Searches this file alone" },
        },
        required: ["query"],
      },
    },
    async run(parameters, context) {
      const { query, file_id: fileId } = parameters;
      if (typeof query !== "string" || query.trim() === "" || query.length > maxQuery) {
        throw new AppError("invalid", `query: is no text of 1 to ${maxQuery} characters.`);
      }
      const { principal } = context;
      const wanted = fileId ? [await files.load(principal, fileId)] : await files.list(principal);
      const count = toNumber(parameters["count"], { standard: 5, min: 1, max: 20 });
      return toOutput(wanted, await search(files, wanted, { query, count, context }));
    },
  });
}

interface Question {
  readonly query: string;
  readonly count: number;
  readonly context: ToolContext;
}

async function search(
  files: ChatFiles,
  wanted: readonly FileRecord[],
  { query, count, context: { principal, signal } }: Question,
): Promise<readonly Passage[]> {
  const better = files.searches.list().at(-1);
  if (better !== undefined) {
    return await better.search({ principal, files: wanted, query, count, signal });
  }
  // One text at a time: those of a chat may be long.
  async function* texts() {
    for (const { id } of wanted) {
      yield { fileId: id, text: textOf(await files.load(principal, id)) ?? "" };
    }
  }
  return await rankPassages(texts(), { query, count, signal });
}

function toOutput(wanted: readonly FileRecord[], passages: readonly Passage[]) {
  const byId = new Map(wanted.map((file) => [file.id, file]));
  const found = passages.flatMap((passage) => {
    const file = byId.get(passage.fileId);
    return file === undefined ? [] : [{ ...passage, file }];
  });
  const value = found.map(({ content, file, score }) => ({
    content,
    source: file.filename,
    file_id: file.id,
    distance: Math.round(score * 1000) / 1000,
  }));
  const sources = [...new Set(found.map(({ file }) => file))].map((file) =>
    toSource(
      file,
      found.filter((one) => one.file === file).map(({ content }) => content),
    ),
  );
  return toolOutput({ value, sources });
}
