import { AppError } from "#kernel/errors.ts";
import { toolOutput } from "#kernel/tools/output.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import type { FileRecord } from "../shapes.ts";
import { type ChatFiles, common, textOf, toNumber, toSource } from "./chat-files.ts";

type Parameters = Readonly<Record<string, unknown>>;

/** Reads a file, piece by piece (appendix A7). */
export function viewTool(files: ChatFiles): Tool {
  const { config } = files;
  return defineTool({
    ...common,
    id: "files.view_file",
    title: "Read a file",
    spec: {
      name: "view_file",
      description:
        "Reads the text of a file, from `offset` or between two lines. `next_offset` tells where a long text goes on.",
      parameters: {
        type: "object",
        properties: {
          file_id: { type: "string" },
          offset: { type: "integer", minimum: 0, default: 0, description: "Characters that are left out" },
          max_chars: {
            type: "integer",
            minimum: 1,
            maximum: config.viewMaxChars,
            default: Math.min(config.viewDefaultChars, config.viewMaxChars),
          },
          line_numbers: { type: "boolean", default: false, description: "Puts its number before each line" },
          start_line: {
            type: "integer",
            minimum: 1,
            description: "The first line; `offset` does not count then",
          },
          end_line: { type: "integer", minimum: 1, description: "The last line" },
        },
        required: ["file_id"],
      },
    },
    async run(parameters, { principal }) {
      const file = await files.load(principal, parameters["file_id"]);
      const text = requireText(file);
      const from = toStart(text, parameters);
      const until = toEnd(text, from, parameters);
      const maxChars = toNumber(parameters["max_chars"], {
        standard: Math.min(config.viewDefaultChars, config.viewMaxChars),
        min: 1,
        max: config.viewMaxChars,
      });
      const end = Math.min(until, from + maxChars);
      const piece = text.slice(from, end).toWellFormed();
      const content = parameters["line_numbers"] === true ? withNumbers(piece, lineAt(text, from)) : piece;
      const value = {
        file_id: file.id,
        filename: file.filename,
        total_chars: text.length,
        offset: from,
        content,
        ...(end < text.length && { next_offset: end }),
        ...(end < until && { truncated: true }),
      };
      return toolOutput({ value, sources: content === "" ? [] : [toSource(file, [piece])] });
    },
  });
}

/** Throws `unprocessable` for a file without a text, saying why. */
export function requireText(file: FileRecord): string {
  const text = textOf(file);
  if (text === undefined) {
    const name = JSON.stringify(file.filename);
    const { status, error } = file.data;
    const why =
      status === "pending"
        ? "is still being read; try again in a moment"
        : status === "failed"
          ? `could not be read: ${String(error ?? "unknown")}`
          : "holds no text that can be read";
    throw new AppError("unprocessable", `The file ${name} ${why}.`);
  }
  return text;
}

function toStart(text: string, { offset, start_line: line }: Parameters): number {
  const wanted = { standard: 0, min: 0, max: text.length };
  return line === undefined || line === null
    ? toNumber(offset, wanted)
    : startOf(text, toNumber(line, lines));
}

/** Where what was asked for ends; a text without such a line ends it. */
function toEnd(text: string, from: number, { end_line: line }: Parameters): number {
  const end = line === undefined || line === null ? text.length : startOf(text, toNumber(line, lines) + 1);
  return Math.max(from, end);
}

const lines = { standard: 1, min: 1, max: 100_000_000 };

/** Where a line begins. */
function startOf(text: string, line: number): number {
  let at = 0;
  for (let number = 1; number < line; number += 1) {
    const end = text.indexOf("\n", at);
    if (end < 0) {
      return text.length;
    }
    at = end + 1;
  }
  return at;
}

function lineAt(text: string, offset: number): number {
  let number = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) {
    number += 1;
  }
  return number;
}

function withNumbers(piece: string, first: number): string {
  const list = piece.split("\n");
  // The piece may end with a line break, behind which no line was asked for.
  const numbered = list.at(-1) === "" ? list.slice(0, -1) : list;
  return numbered.map((line, at) => `${first + at}: ${line}`).join("\n");
}
