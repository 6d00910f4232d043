import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import { anyOf, toContains } from "#storage/values.ts";
import type { FileRecord, ReadableFiles, ReadingLimits } from "#plugins/files/service.ts";
import type { KnowledgeParts } from "../parts.ts";
import type { CollectionRow } from "../tables.ts";
import type { KnowledgeScope } from "./scope.ts";

/** What all tools of this folder share (contract §3.6, category `knowledge`). */
export const common = { category: "knowledge", isParallel: true } as const satisfies Partial<Tool>;

/** What the tools of one reply look into; asked anew for each call. */
export interface ToolScope {
  readonly parts: KnowledgeParts;
  readonly limits: ReadingLimits;
  /** True where a model or folder brings knowledge along. */
  readonly isAttached: boolean;
  find(principal: Principal): Promise<KnowledgeScope>;
}

/** More files than a search by lines gets through in its time. */
const maxFiles = 2_000;

/** The collections that a call names, or all of its scope. Throws `not_found` for others. */
export async function narrow(
  scope: ToolScope,
  principal: Principal,
  named: unknown,
): Promise<KnowledgeScope> {
  const found = await scope.find(principal);
  const ids = (Array.isArray(named) ? named : [named]).filter((id) => typeof id === "string" && id !== "");
  if (ids.length === 0) {
    return found;
  }
  const collections = found.collections.filter(({ id }) => ids.includes(id));
  if (collections.length < new Set(ids).size) {
    throw new AppError("not_found", `There is no such collection. ${listTool(scope)} tells which are.`);
  }
  return { collections, files: [] };
}

const listTool = ({ isAttached }: ToolScope) => (isAttached ? "list_knowledge" : "list_knowledge_bases");

export interface FoundFile {
  readonly file_id: string;
  readonly filename: string;
  readonly knowledge_id: string | null;
  readonly knowledge_name: string | null;
  readonly size: number | null;
  readonly updated_at: number;
}

/** Files of a scope whose name holds a text; all of them with an empty one. */
export async function findFiles(
  { parts }: ToolScope,
  { collections, files }: KnowledgeScope,
  { text, limit, offset }: { text: string; limit: number; offset: number },
): Promise<{ items: FoundFile[]; total: number }> {
  const names = new Map(collections.map(({ id, name }) => [id, name]));
  const single = files
    .filter(({ filename }) => filename.toLowerCase().includes(text.toLowerCase()))
    .map((file) => toSingle(file));
  const matching = parts.db
    .selectFrom("knowledge_file")
    .where("knowledge_id", "=", anyOf([...names.keys()]))
    .where("status", "=", "processed")
    .where("name", "ilike", toContains(text));
  const [rows, counted] = await Promise.all([
    matching
      .selectAll()
      .orderBy(sql`lower(name)`)
      .orderBy("id")
      .limit(limit)
      .offset(Math.max(0, offset - single.length))
      .execute(),
    matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  const stored = rows.map((row) => ({
    file_id: row.file_id,
    filename: row.name,
    knowledge_id: row.knowledge_id,
    knowledge_name: names.get(row.knowledge_id) ?? null,
    size: Number(row.size),
    updated_at: row.updated_at,
  }));
  const items = [...single.slice(offset, offset + limit), ...stored].slice(0, limit);
  return { items, total: single.length + Number(counted.total) };
}

function toSingle({ id, filename, meta, updated_at }: FileRecord): FoundFile {
  const size = typeof meta["size"] === "number" ? meta["size"] : null;
  return { file_id: id, filename, knowledge_id: null, knowledge_name: null, size, updated_at };
}

/** The files of a scope as the tools that read files see them; each is looked for anew when it is read. */
export function toReadable(scope: ToolScope, named: unknown): ReadableFiles {
  const { parts, limits } = scope;
  return {
    config: limits,
    searches: { list: () => [] },
    async list(principal) {
      const found = await narrow(scope, principal, named);
      const { items } = await findFiles(scope, found, { text: "", limit: maxFiles, offset: 0 });
      return await parts.files.list(items.map(({ file_id }) => file_id));
    },
    async load(principal, fileId) {
      const found = await narrow(scope, principal, named);
      const [file] =
        typeof fileId === "string" && (await holds(parts, found, fileId))
          ? await parts.files.list([fileId])
          : [];
      if (file === undefined) {
        throw new AppError(
          "not_found",
          "There is no such file in this knowledge. search_knowledge_files tells which are.",
        );
      }
      const content = await parts.files.text(file.id);
      return { ...file, data: { ...file.data, ...(content !== undefined && { content }) } };
    },
  };
}

async function holds({ db }: KnowledgeParts, scope: KnowledgeScope, fileId: string): Promise<boolean> {
  if (scope.files.some(({ id }) => id === fileId)) {
    return true;
  }
  const row = await db
    .selectFrom("knowledge_file")
    .select("id")
    .where("file_id", "=", fileId)
    .where("knowledge_id", "=", anyOf(scope.collections.map(({ id }) => id)))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A collection as models read it. */
export function toBase({ id, name, description, updated_at }: CollectionRow, files: number) {
  return { id, name, description, files, updated_at };
}
