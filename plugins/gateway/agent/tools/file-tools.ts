import { applyPatch, parsePatch } from "diff";
import { isUtf8 } from "node:buffer";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import type { ConfinedFiles } from "../../files/confined.ts";
import { type AgentPlace, numberOf, schemaOf, shorten, textOf } from "./place.ts";

const path = { type: "string", description: "Path relative to the workspace" } as const;

/** Tools that list, read and change files; none reaches beyond the workspace. */
export function fileTools({ files }: AgentPlace): Tool[] {
  const readText = async (name: string) => toText(await files.read(name), name);
  const write = (name: string, text: string) => files.write(name, Buffer.from(text));
  return [...readingTools(files, readText), ...changingTools({ readText, write, remove: files.remove })];
}

function readingTools(files: ConfinedFiles, readText: TextFiles["readText"]): Tool[] {
  return [
    defineTool({
      id: "gateway.list_files",
      title: "List files",
      isParallel: true,
      spec: {
        name: "list_files",
        description: "Lists the entries of one folder of the workspace.",
        parameters: schemaOf({
          path: {
            ...path,
            description: "Folder, relative to the workspace; empty for the workspace itself",
            optional: true,
          },
        }),
      },
      async run(given) {
        const entries = await files.list(textOf(given, "path"));
        const lines = entries.map(({ name, kind, size }) =>
          kind === "file" ? `${name} (${size} bytes)` : kind === "folder" ? `${name}/` : `${name} [${kind}]`,
        );
        return shorten(lines.join("\n") || "The folder is empty.", "List folders one by one.");
      },
    }),
    defineTool({
      id: "gateway.read_file",
      title: "Read a file",
      isParallel: true,
      spec: {
        name: "read_file",
        description: "Reads a text file of the workspace. Lines are numbered from 1.",
        parameters: schemaOf({
          path,
          offset: {
            type: "integer",
            description: "First line that is read; 1 when left out",
            optional: true,
          },
          limit: {
            type: "integer",
            description: "Most lines that are read; 2000 when left out",
            optional: true,
          },
        }),
      },
      async run(given) {
        const lines = (await readText(textOf(given, "path"))).split("\n");
        const from = numberOf(given, "offset", { least: 1, most: Number.MAX_SAFE_INTEGER, otherwise: 1 });
        const count = numberOf(given, "limit", { least: 1, most: 100_000, otherwise: 2_000 });
        const shown = lines.slice(from - 1, from - 1 + count).map((line, at) => `${from + at}\t${line}`);
        const left = lines.length - (from - 1 + shown.length);
        const more = left > 0 ? [`[${left} more lines; read on with offset ${from + shown.length}]`] : [];
        return shorten([...shown, ...more].join("\n"), "Read fewer lines at a time.");
      },
    }),
  ];
}

function changingTools({ readText, write, remove }: TextFiles): Tool[] {
  return [
    defineTool({
      id: "gateway.write_file",
      title: "Write a file",
      spec: {
        name: "write_file",
        description: "Writes a whole text file; missing folders are made and an existing file is replaced.",
        parameters: schemaOf({ path, content: { type: "string", description: "The file's whole content" } }),
      },
      async run(given) {
        const name = textOf(given, "path");
        const content = textOf(given, "content");
        await write(name, content);
        return `Wrote ${Buffer.byteLength(content)} bytes to ${name}.`;
      },
    }),
    defineTool({
      id: "gateway.edit_file",
      title: "Edit a file",
      spec: {
        name: "edit_file",
        description:
          "Replaces a text in a file. The old text must stand there exactly once, white space included, unless replace_all is true.",
        parameters: schemaOf({
          path,
          old_text: { type: "string", description: "The text that is replaced" },
          new_text: { type: "string", description: "The text in its place" },
          replace_all: { type: "boolean", description: "Replaces every occurrence", optional: true },
        }),
      },
      async run(given) {
        const name = textOf(given, "path");
        const [before, old] = [await readText(name), textOf(given, "old_text")];
        const count = old === "" ? 0 : before.split(old).length - 1;
        if (count === 0) {
          throw new AppError(
            "invalid",
            `old_text does not stand in ${name}. Read the file and copy it exactly.`,
          );
        }
        const isAll = given["replace_all"] === true;
        if (count > 1 && !isAll) {
          throw new AppError(
            "invalid",
            `old_text stands in ${name} ${count} times. Add lines around it, or set replace_all.`,
          );
        }
        await write(name, before.split(old).join(textOf(given, "new_text")));
        return `Replaced ${count} ${count === 1 ? "occurrence" : "occurrences"} in ${name}.`;
      },
    }),
    defineTool({
      id: "gateway.patch_files",
      title: "Apply a patch",
      spec: {
        name: "patch_files",
        description:
          "Applies a unified diff to files of the workspace: all of it, or nothing when a part does not fit.",
        parameters: schemaOf({
          patch: { type: "string", description: "A unified diff with --- and +++ lines" },
        }),
      },
      run: async (given) => await patch(textOf(given, "patch"), { readText, write, remove }),
    }),
  ];
}

interface TextFiles {
  readText(name: string): Promise<string>;
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

async function patch(text: string, { readText, write, remove }: TextFiles): Promise<string> {
  const parts = parse(text);
  const planned: { name: string; content: string | undefined }[] = [];
  for (const part of parts) {
    const [from, to] = [toName(part.oldFileName), toName(part.newFileName)];
    const name = to ?? from;
    if (name === undefined) {
      throw new AppError("invalid", "patch: a part names no file in its --- and +++ lines.");
    }
    const before = from === undefined ? "" : await readText(from);
    const content = applyPatch(before, part);
    if (content === false) {
      throw new AppError(
        "invalid",
        `patch: the part for ${name} does not fit the file. Read it and try again.`,
      );
    }
    planned.push({ name, content: to === undefined ? undefined : content });
    if (from !== undefined && to !== undefined && from !== to) {
      planned.push({ name: from, content: undefined });
    }
  }
  for (const { name, content } of planned) {
    await (content === undefined ? remove(name) : write(name, content));
  }
  return planned
    .map(({ name, content }) => `${content === undefined ? "Removed" : "Wrote"} ${name}.`)
    .join("\n");
}

function parse(text: string) {
  try {
    const parts = parsePatch(text).filter(({ hunks }) => hunks.length > 0);
    if (parts.length > 0) {
      return parts;
    }
  } catch {
    // Told below, in the words of the tool.
  }
  throw new AppError("invalid", "patch: is no unified diff with --- and +++ lines and hunks.");
}

function toName(name: string | undefined): string | undefined {
  const plain = name?.trim().replace(/^[ab]\//, "");
  return plain === undefined || plain === "" || plain === "/dev/null" ? undefined : plain;
}

function toText(bytes: Buffer, name: string): string {
  if (bytes.includes(0) || !isUtf8(bytes)) {
    throw new AppError("invalid", `${name} is no text in UTF-8 (${bytes.length} bytes).`);
  }
  return bytes.toString("utf8");
}
