import type { Principal } from "#kernel/access/principal.ts";
import { isObject, toList } from "#config/json-values.ts";
import type { NoteParts } from "../parts.ts";
import { type Bag, type NoteRow, resourceType } from "../tables.ts";
import { fromMarkdown, toHtml } from "../web/text/markdown.ts";
import { pinnedAmong } from "./note-store.ts";

type Showing = Pick<NoteParts, "access" | "accounts" | "grants" | "db">;

/** Characters of a note's text that lists show. */
const previewChars = 400;

/** Records of notes without their text. Grants are shown to those who may change the note. */
async function readFacts(
  { access, accounts, grants, db }: Showing,
  caller: Principal,
  rows: readonly NoteRow[],
) {
  const ids = rows.map(({ id }) => id);
  const [held, writable, pinned, people] = await Promise.all([
    grants.list(resourceType, ids),
    grants.allowed(caller, "write", resourceType, ids),
    pinnedAmong(db, caller.userId, ids),
    accounts.summaries(rows.map(({ user_id: userId }) => userId)),
  ]);
  const grantsOf = Map.groupBy(held, (grant) => grant.resource_id);
  return (row: NoteRow) => {
    const mayWrite = access.passes(caller) || row.user_id === caller.userId || writable.has(row.id);
    return {
      id: row.id,
      user_id: row.user_id,
      title: row.title,
      meta: row.meta,
      access_grants: mayWrite ? (grantsOf.get(row.id) ?? []).map((grant) => ({ ...grant })) : [],
      write_access: mayWrite,
      is_pinned: pinned.has(row.id),
      created_at: BigInt(row.created_at),
      updated_at: BigInt(row.updated_at),
      user: people.get(row.user_id) ?? null,
    };
  };
}

/** Notes as lists show them. */
export async function showItems(parts: Showing, caller: Principal, rows: readonly NoteRow[]) {
  const toFacts = await readFacts(parts, caller, rows);
  return rows.map((row) => ({
    ...toFacts(row),
    data: { content: { md: row.content.slice(0, previewChars) } },
  }));
}

/** A note with its text in all three forms. */
export async function showNote(parts: Showing, caller: Principal, row: NoteRow) {
  const toFacts = await readFacts(parts, caller, [row]);
  const content = {
    md: row.content,
    html: toHtml(row.content),
    json: fromMarkdown(row.content).toJSON() as Record<string, unknown>,
  };
  return { ...toFacts(row), data: { ...row.data, content, files: filesOf(row.data) } };
}

export type ShownNote = Awaited<ReturnType<typeof showNote>>;

/** The files that stand in a note. */
export function filesOf(data: Bag): (Record<string, unknown> & { readonly id: string })[] {
  return toList(data["files"]).filter(
    (item): item is Record<string, unknown> & { id: string } =>
      isObject(item) && typeof item["id"] === "string",
  );
}
