import type { ExplainedResource } from "#plugins/accounts/service.ts";
import type { FileReferences } from "#plugins/files/service.ts";
import { findNote } from "./library/note-store.ts";
import type { NoteParts } from "./parts.ts";
import { resourceType } from "./tables.ts";

/** Readers of a note may read the files that their owners put into it (contract §6.1). */
export function toFileReference({ db, files, notes, isOpen }: NoteParts): FileReferences {
  return {
    id: "notes",
    async isReachable(principal, fileId, action) {
      if (action !== "read" || !isOpen(principal)) {
        return false;
      }
      const owner = (await files.owners([fileId])).get(fileId);
      const rows = await db
        .selectFrom("note_file")
        .select("note_id")
        .where("file_id", "=", fileId)
        .where("user_id", "=", owner ?? "")
        .limit(100)
        .execute();
      for (const { note_id: noteId } of rows) {
        if ((await notes.find(principal, noteId, "read")) !== undefined) {
          return true;
        }
      }
      return false;
    },
  };
}

/** Tells administrators why somebody can use a note. */
export function explainNotes({ db, notes, access }: NoteParts): ExplainedResource {
  return {
    kind: "note",
    grantType: resourceType,
    async find(_asker, id) {
      const row = await findNote(db, id);
      return row && { id, name: row.title, ownerId: row.user_id };
    },
    may: async (principal, id, permission) => (await notes.find(principal, id, permission)) !== undefined,
    others: async (principal) =>
      access.passes(principal)
        ? (["read", "write"] as const).map((permission) => ({ rule: "administrator", permission }))
        : [],
  };
}
