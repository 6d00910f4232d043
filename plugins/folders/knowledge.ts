import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { FolderParts } from "./parts.ts";
import type { KnowledgeItem } from "./service.ts";
import type { FolderRow } from "./store.ts";

type Parts = Pick<FolderParts, "files" | "references" | "maxFiles">;

/** The knowledge that a folder names. */
export function filesOf({ data }: Pick<FolderRow, "data">): KnowledgeItem[] {
  const { files } = data;
  return Array.isArray(files) ? (files as KnowledgeItem[]) : [];
}

/**
 * Refuses a list that is too long (FOLDER_MAX_FILE_COUNT) or names what its writer may not read: whoever may read the
 * folder is lent it. What the folder names already is not asked for again. Throws `invalid` and `not_found`.
 */
export async function requireKnowledge(
  parts: Parts,
  caller: Principal,
  { sent, held }: { sent: readonly KnowledgeItem[]; held: readonly KnowledgeItem[] },
): Promise<void> {
  const max = parts.maxFiles();
  // A limit that was lowered later must not keep people from taking files out one by one.
  if (max !== null && sent.length > Math.max(max, held.length)) {
    throw new AppError("invalid", `data.files holds ${sent.length} files; a folder holds at most ${max}.`);
  }
  const known = new Set(held.map(keyOf));
  const fresh = sent.filter((item) => !known.has(keyOf(item)));
  const readable = await findReadable(parts, caller, { items: fresh, lender: undefined });
  for (const item of fresh) {
    if (!readable.has(keyOf(item))) {
      throw new AppError("not_found", item.type === "file" ? "File not found" : "Knowledge not found");
    }
  }
}

/** What of a folder's knowledge a reader of the folder may read now: what is gone is left out (promise S15). */
export async function readableKnowledge(
  parts: Parts,
  reader: Principal,
  folder: Pick<FolderRow, "data" | "user_id">,
): Promise<KnowledgeItem[]> {
  const items = filesOf(folder);
  const readable = await findReadable(parts, reader, { items, lender: folder.user_id });
  return items.filter((item) => readable.has(keyOf(item)));
}

interface Wanted {
  readonly items: readonly KnowledgeItem[];
  /** Whose own files the caller may read because they lie in a folder of theirs. */
  readonly lender: string | undefined;
}

async function findReadable(
  { files, references }: Parts,
  caller: Principal,
  { items, lender }: Wanted,
): Promise<Set<string>> {
  const readable = new Set<string>();
  for (const [type, group] of Map.groupBy(items, (item) => item.type)) {
    const ids = group.map(({ id }) => id);
    const owner = references.list().find(({ types }) => types.includes(type));
    const found =
      type === "file"
        ? await findReadableFiles(files, caller, { ids, lender })
        : ((await owner?.readable(caller, type, ids)) ?? new Set<string>());
    group.filter(({ id }) => found.has(id)).forEach((item) => readable.add(keyOf(item)));
  }
  return readable;
}

async function findReadableFiles(
  files: Parts["files"],
  caller: Principal,
  { ids, lender }: { ids: readonly string[]; lender: string | undefined },
): Promise<Set<string>> {
  const readable = new Set<string>();
  for (const [id, owner] of await files.owners(ids)) {
    if (owner === caller.userId || owner === lender || (await isReadable(files, caller, id))) {
      readable.add(id);
    }
  }
  return readable;
}

async function isReadable(files: Parts["files"], caller: Principal, id: string): Promise<boolean> {
  try {
    await files.load(caller, id, "read");
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return false;
    }
    throw error;
  }
}

function keyOf({ type, id }: KnowledgeItem): string {
  return `${type} ${id}`;
}
