import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type GrantInput, newReaders } from "#storage/grants.ts";
import { type Documents, seedDocument } from "../live/documents.ts";
import { announce, emitNote, type NoteParts } from "../parts.ts";
import type { NoteForm, NoteUpdate } from "../schema.ts";
import { type Bag, type NoteRow, resourceType } from "../tables.ts";
import { fromMarkdown, toMarkdown } from "../web/text/markdown.ts";
import { insertNote, lockNote, replaceFiles, togglePin, updateNote } from "./note-store.ts";
import { filesOf, showNote } from "./record.ts";
import { keepVersion } from "./version-store.ts";

/** The permission that opening a note to everybody needs. */
const everybody = "sharing.public_notes";

export type Notes = ReturnType<typeof createNoteActions>;

/** The logic behind `/notes` (contract §8). */
export function createNoteActions(parts: NoteParts, documents: Documents) {
  const { db, notes } = parts;

  /** The row of now: what was typed a moment ago is part of it. */
  async function read(caller: Principal, id: string): Promise<NoteRow> {
    await notes.load(caller, id, "read");
    await documents.settle(id);
    return await notes.load(caller, id, "read");
  }

  return {
    read,
    get: async (caller: Principal, id: string) => await showNote(parts, caller, await read(caller, id)),
    ...creation(parts),
    ...changing(parts, documents),

    async pin(caller: Principal, id: string) {
      const row = await notes.load(caller, id, "read");
      const isPinned = await togglePin(db, caller.userId, id);
      announce(parts, isPinned ? "pinned" : "unpinned", { by: caller, row });
      return await showNote(parts, caller, row);
    },
  };
}

function creation(parts: NoteParts) {
  const { transaction, grants, accounts } = parts;
  return {
    async create(caller: Principal, form: NoteForm) {
      const markdown = requireMarkdown(form.data?.content) ?? "";
      const files = form.data?.files ?? [];
      const fileIds = await requireFiles(parts, caller, files, []);
      const wanted = form.access_grants ?? [];
      const given = await accounts.givenGrants(caller, { wanted, held: [], everybody });
      const row = await transaction(async (tx) => {
        const made = await insertNote(tx, {
          userId: caller.userId,
          title: form.title,
          content: toMarkdown(fromMarkdown(markdown)),
          data: { ...form.data, content: undefined, files },
          meta: form.meta ?? {},
        });
        await seedDocument(tx, made.id, markdown);
        await grants.replace(tx, resourceType, made.id, given);
        await replaceFiles(tx, { noteId: made.id, userId: caller.userId }, fileIds);
        await keepVersion(tx, made, { userId: caller.userId, isApart: true });
        return made;
      });
      announce(parts, "created", { by: caller, row });
      const shared = newReaders([], given);
      if (shared.length > 0) {
        announce(parts, "access_updated", { by: caller, row, data: { shared_with: shared } });
      }
      return await showNote(parts, caller, row);
    },
  };
}

function changing(parts: NoteParts, documents: Documents) {
  const { transaction, notes, grants, accounts } = parts;

  async function share(caller: Principal, id: string, wanted: readonly GrantInput[]) {
    const row = await notes.load(caller, id, "write");
    const held = await grants.list(resourceType, [id]);
    const given = await accounts.givenGrants(caller, { wanted, held, everybody });
    const shared = await transaction(async (tx) => {
      await lockNote(tx, id);
      return newReaders(held, await grants.replace(tx, resourceType, id, given));
    });
    emitNote(parts, row, "access");
    announce(parts, "access_updated", { by: caller, row, data: { shared_with: shared } });
    return await showNote(parts, caller, row);
  }

  return {
    share,

    /** Members that are left out stay. A text becomes an edit of the document that others may be writing in. */
    async update(caller: Principal, id: string, form: NoteUpdate) {
      const before = await notes.load(caller, id, "write");
      await documents.settle(id);
      const markdown = requireMarkdown(form.data?.content);
      const files = form.data?.files ?? undefined;
      const fileIds = files && (await requireFiles(parts, caller, files, filesOf(before.data)));
      const row = await transaction(async (tx) => {
        const held = await lockNote(tx, id);
        if (form.updated_at !== undefined && BigInt(form.updated_at) !== BigInt(held.updated_at)) {
          throw new AppError("conflict", "This note was changed meanwhile. Load it again.");
        }
        if (fileIds) {
          await replaceFiles(tx, { noteId: id, userId: caller.userId }, fileIds);
        }
        const data: Bag = {
          ...held.data,
          ...form.data,
          content: undefined,
          files: files ?? filesOf(held.data),
        };
        const fields = {
          ...(form.title !== undefined && { title: form.title }),
          ...(form.data && { data }),
          ...(form.meta && { meta: form.meta }),
        };
        return Object.keys(fields).length === 0 ? held : await updateNote(tx, id, fields);
      });
      if (form.access_grants) {
        await share(caller, id, form.access_grants);
      }
      if (markdown !== undefined) {
        await documents.write(id, markdown, caller.userId);
      }
      emitNote(parts, row, form.title === undefined ? "files" : "title");
      announce(parts, "updated", { by: caller, row });
      return await showNote(parts, caller, await notes.load(caller, id, "write"));
    },

    async remove(caller: Principal, id: string): Promise<true> {
      const row = await notes.load(caller, id, "write");
      if (row.user_id !== caller.userId && !parts.access.passes(caller)) {
        throw new AppError("forbidden", "Only the owner can delete a note.");
      }
      emitNote(parts, row, "deleted");
      await transaction(async (tx) => {
        await tx.deleteFrom("note").where("id", "=", id).execute();
        await grants.forget(tx, resourceType, [id]);
      });
      announce(parts, "deleted", { by: caller, row });
      return true;
    },
  };
}

/** The text of a form; undefined where it says nothing of it. Throws `invalid` for a text in another form alone. */
function requireMarkdown(
  content: { md?: string | null | undefined; html?: unknown; json?: unknown } | null | undefined,
): string | undefined {
  if (typeof content?.md === "string") {
    return content.md.replaceAll("\u0000", "");
  }
  if ((content?.html ?? content?.json ?? null) !== null) {
    throw new AppError(
      "invalid",
      "data.content.md: give the text as Markdown; html and json are made of it.",
    );
  }
  return undefined;
}

/**
 * Ids of the files of a form. Throws `not_found` for one that is new to the note and not the caller's own: through the
 * note, all its readers can read it (promise S17).
 */
async function requireFiles(
  { files }: NoteParts,
  caller: Principal,
  wanted: readonly { readonly id: string }[],
  held: readonly { readonly id: string }[],
): Promise<string[]> {
  const kept = new Set(held.map(({ id }) => id));
  const ids = [...new Set(wanted.map(({ id }) => id))];
  const fresh = ids.filter((id) => !kept.has(id));
  const owners = await files.owners(fresh);
  if (fresh.some((id) => owners.get(id) !== caller.userId)) {
    throw new AppError(
      "not_found",
      "data.files: only files of your own can be added. Upload the file first.",
    );
  }
  return ids;
}
