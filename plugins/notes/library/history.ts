import { diffLines } from "diff";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Documents } from "../live/documents.ts";
import type { NoteParts } from "../parts.ts";
import type { VersionRow } from "../tables.ts";
import type { Notes } from "./notes.ts";
import { findVersion, listVersions } from "./version-store.ts";

/** Time for a comparison; texts that take longer are shown as removed and added. */
const diffMs = 1_000;

export type History = ReturnType<typeof createHistory>;

/** Earlier texts of a note, for everybody who may read it; restoring one takes the right to write. */
export function createHistory(
  parts: NoteParts,
  { documents, notes }: { documents: Documents; notes: Notes },
) {
  const { db, accounts, notes: loader } = parts;

  async function require(noteId: string, id: string): Promise<VersionRow> {
    const row = await findVersion(db, noteId, id);
    if (row === undefined) {
      throw new AppError("not_found", "Not found");
    }
    return row;
  }
  async function withPeople<R extends Pick<VersionRow, "user_id" | "created_at" | "updated_at">>(
    rows: readonly R[],
  ) {
    const people = await accounts.summaries(rows.flatMap(({ user_id: id }) => id ?? []));
    return rows.map(({ user_id: id, ...row }) => ({
      ...row,
      created_at: BigInt(row.created_at),
      updated_at: BigInt(row.updated_at),
      user: people.get(id ?? "") ?? null,
    }));
  }

  return {
    async list(caller: Principal, noteId: string) {
      await notes.read(caller, noteId);
      return await withPeople(await listVersions(db, noteId));
    },

    async get(caller: Principal, noteId: string, id: string) {
      await loader.load(caller, noteId, "read");
      const [shown] = await withPeople([await require(noteId, id)]);
      return shown as NonNullable<typeof shown>;
    },

    /** The lines of two versions, or of one and the note of now. */
    async diff(caller: Principal, noteId: string, { from, to }: { from: string; to: string | undefined }) {
      const now = await notes.read(caller, noteId);
      const before = await require(noteId, from);
      const after = to === undefined ? now : await require(noteId, to);
      return { lines: toDiff(before.content, after.content) };
    },

    async restore(caller: Principal, noteId: string, id: string) {
      await loader.load(caller, noteId, "write");
      const version = await require(noteId, id);
      await documents.settle(noteId);
      await documents.write(noteId, version.content, caller.userId);
      return await notes.get(caller, noteId);
    },
  };
}

function toDiff(before: string, after: string): string[] {
  const mark = (text: string, sign: string) =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  const changes = diffLines(`${before}\n`, `${after}\n`, { timeout: diffMs });
  return changes === undefined
    ? [...mark(before, "-"), ...mark(after, "+")]
    : changes.flatMap(({ value, added, removed }) => mark(value, added ? "+" : removed ? "-" : " "));
}
