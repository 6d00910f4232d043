import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import type { FileRecord } from "../shapes.ts";
import { type ChatFiles, common, textOf } from "./chat-files.ts";
import { grep, type LineTest, toLineTest } from "./grep.ts";

const maxPattern = 1_000;
/** Searching all files of a chat takes no longer; what was found until then is told. */
const maxMs = 15_000;

/** Finds lines by a pattern (appendix A7). */
export function grepTool(files: ChatFiles): Tool {
  return defineTool({
    ...common,
    id: "files.grep_chat_files",
    title: "Find lines in the files",
    spec: {
      name: "grep_chat_files",
      description: `Finds the lines of the chat's files that hold a pattern: a text, or a regular expression in RE2 syntax. At most ${files.config.grepMaxMatches} lines are told.`,
      parameters: {
        type: "object",
        properties: {
          pattern: { type: "string", maxLength: maxPattern },
          file_id: { type: "string", description: "Searches this file alone" },
          case_insensitive: { type: "boolean", default: false },
          count_only: { type: "boolean", default: false, description: "Tells only how many lines there are" },
        },
        required: ["pattern"],
      },
    },
    async run(parameters, context) {
      const { pattern, file_id: fileId, count_only: countOnly } = parameters;
      if (typeof pattern !== "string" || pattern === "" || pattern.length > maxPattern) {
        throw new AppError("invalid", `pattern: is no text of 1 to ${maxPattern} characters.`);
      }
      const test = toLineTest(pattern, { ignoresCase: parameters["case_insensitive"] === true });
      const wanted = fileId
        ? [await files.load(context.principal, fileId)]
        : await files.list(context.principal);
      return await search(files, wanted, { test, context, countOnly: countOnly === true });
    },
  });
}

interface Search {
  readonly test: LineTest;
  readonly context: ToolContext;
  readonly countOnly: boolean;
}

async function search(files: ChatFiles, wanted: readonly FileRecord[], { test, context, countOnly }: Search) {
  const limit = countOnly ? 0 : files.config.grepMaxMatches;
  const late = AbortSignal.timeout(maxMs);
  const signal = AbortSignal.any([context.signal, late]);
  const matches: object[] = [];
  const counts: { file_id: string; source: string; count: number }[] = [];
  try {
    for (const { id } of wanted) {
      signal.throwIfAborted();
      const file = await files.load(context.principal, id);
      const options = { limit: limit - matches.length, signal };
      const found = await grep(textOf(file) ?? "", test, options);
      const place = { file_id: id, source: file.filename };
      matches.push(...found.matches.map((match) => ({ ...place, ...match })));
      if (found.count > 0) {
        counts.push({ ...place, count: found.count });
      }
    }
  } catch (error) {
    if (!late.aborted || context.signal.aborted) {
      throw error;
    }
  }
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return {
    total,
    ...(countOnly ? { counts } : { matches }),
    ...(!countOnly && matches.length < total && { truncated: true }),
    ...(late.aborted && { incomplete: "The search took too long. Name a file_id, or a simpler pattern." }),
  };
}
