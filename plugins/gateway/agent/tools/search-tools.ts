import { matchesGlob } from "node:path";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import { find } from "../../commands/confinement.ts";
import { toSegments } from "../../files/confined.ts";
import { walk } from "../../files/walk.ts";
import { type AgentPlace, keptOutput, runIn, schemaOf, shorten, textOf } from "./place.ts";

const searchMs = 30_000;
const mostFound = 1_000;
const longestPattern = 500;

/** Tools that find files by name and by content. */
export function searchTools(place: AgentPlace): Tool[] {
  const folder = {
    type: "string",
    description: "Folder to look in; the workspace when left out",
    optional: true,
  } as const;
  return [
    defineTool({
      id: "gateway.find_files",
      title: "Find files",
      isParallel: true,
      spec: {
        name: "find_files",
        description: "Finds files by a glob such as src/**/*.ts; .git and node_modules are left out.",
        parameters: schemaOf({
          pattern: { type: "string", description: "Glob; * stays within a folder" },
          path: folder,
        }),
      },
      async run(given, { signal }) {
        const pattern = requirePattern(textOf(given, "pattern"));
        const start = toSegments(textOf(given, "path")).join("/");
        const limit = AbortSignal.any([signal, AbortSignal.timeout(searchMs)]);
        const found: string[] = [];
        for await (const { path, name } of walk(place.files, start, limit)) {
          const below = start === "" ? path : path.slice(start.length + 1);
          if (matchesGlob(pattern.includes("/") ? below : name, pattern)) {
            found.push(path);
          }
          if (found.length >= mostFound) {
            return `${found.join("\n")}\n[Only the first ${mostFound} are shown.]`;
          }
        }
        return found.join("\n") || "No file has such a name.";
      },
    }),
    defineTool({
      id: "gateway.search_text",
      title: "Search in files",
      isParallel: true,
      spec: {
        name: "search_text",
        description: "Finds lines by a regular expression; answers path:line:text.",
        parameters: schemaOf({
          pattern: { type: "string", description: "Regular expression" },
          path: folder,
          ignore_case: {
            type: "boolean",
            description: "Small and capital letters are alike",
            optional: true,
          },
        }),
      },
      async run(given, { signal }) {
        const pattern = requirePattern(textOf(given, "pattern"));
        const start = `./${toSegments(textOf(given, "path")).join("/")}`;
        const argv = await toSearch(place, { pattern, start, ignoresCase: given["ignore_case"] === true });
        const result = await runIn(place, argv, { timeoutMs: searchMs, signal, keptChars: keptOutput });
        if (result.ended !== undefined) {
          return `${result.output}\n[The search was ended early: ${result.ended}. Narrow it.]`;
        }
        const isEmpty = result.exitCode === 1 && result.output === "";
        return isEmpty ? "No line fits." : shorten(result.output, "Narrow the search.");
      },
    }),
  ];
}

function requirePattern(pattern: string): string {
  if (pattern === "" || pattern.length > longestPattern) {
    throw new AppError("invalid", `pattern: from 1 to ${longestPattern} characters.`);
  }
  return pattern;
}

interface Search {
  readonly pattern: string;
  readonly start: string;
  readonly ignoresCase: boolean;
}

/** ripgrep where it is installed; no program of JavaScript, which a pattern could hold up for ever. */
async function toSearch(
  { settings }: AgentPlace,
  { pattern, start, ignoresCase }: Search,
): Promise<string[]> {
  const ripgrep = await find("rg", settings().commandPath);
  const flags = ignoresCase ? ["-i"] : [];
  return ripgrep
    ? [
        ripgrep,
        "--no-config",
        "--no-follow",
        "-nH",
        "--no-heading",
        "--max-columns",
        "500",
        ...flags,
        "-e",
        pattern,
        "--",
        start,
      ]
    : [
        "grep",
        "-rnIE",
        "--exclude-dir=.git",
        "--exclude-dir=node_modules",
        ...flags,
        "-e",
        pattern,
        "--",
        start,
      ];
}
