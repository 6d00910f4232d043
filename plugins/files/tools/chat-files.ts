import type { Principal } from "#kernel/access/principal.ts";
import type { Slot } from "#kernel/service.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import type { FileRecord, PassageSearch } from "../shapes.ts";

/** How much of files a model gets at once. */
export interface ChatFileSettings {
  readonly viewDefaultChars: number;
  readonly viewMaxChars: number;
  readonly grepMaxMatches: number;
}

/** The files of one chat, for the person a tool runs for. */
export interface ChatFiles {
  readonly config: ChatFileSettings;
  readonly searches: Slot<PassageSearch>;
  /** Without their texts; those that are gone or not the person's to read are left out. */
  list(principal: Principal): Promise<FileRecord[]>;
  /** With its text. Throws `not_found` for every file that is not one of the chat's. */
  load(principal: Principal, fileId: unknown): Promise<FileRecord>;
}

/** What all tools of this folder share (contract §3.6, category `files`). */
export const common = {
  category: "files",
  permission: "chat.file_upload",
  isParallel: true,
} as const satisfies Partial<Tool>;

/** The text of a file; undefined for one that has none. */
export function textOf({ data }: FileRecord): string | undefined {
  const { content } = data;
  return typeof content === "string" && content !== "" ? content : undefined;
}

/** A whole number that a model gave, within its limits. */
export function toNumber(
  value: unknown,
  { standard, min, max }: { standard: number; min: number; max: number },
): number {
  const number = Math.floor(Number(value ?? standard));
  return Number.isFinite(number) ? Math.min(max, Math.max(min, number)) : standard;
}

/** What a reply rests on after a model read this of a file (contract §3.4). */
export function toSource(
  { id, filename }: FileRecord,
  texts: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    source: { id, name: filename, type: "file" },
    document: texts,
    metadata: texts.map(() => ({ source: filename, name: filename, file_id: id })),
  };
}
