import { toObject } from "#config/json-values.ts";
import { AppError } from "#kernel/errors.ts";
import type { ContextItems, ContextRun, ContextSource, Source } from "#plugins/completions/service.ts";
import type { Models, ModelReferences } from "#plugins/models/service.ts";
import { lentNotes, noteIds } from "./attached.ts";
import type { Notes } from "./library/notes.ts";
import type { NoteParts } from "./parts.ts";
import type { NoteRow } from "./tables.ts";

/** Characters of notes that one question is given; `view_note` reads on. */
const mostChars = 60_000;

type Parts = NoteParts & { readonly models: Pick<Models, "resolve"> };

/**
 * Gives runs the notes that their request names (`{type: "note", id}`, contract §6.3), as they are now; and tells native
 * ones of the notes that their model brings along, whose text legacy ones are given.
 */
export function createNoteContext(parts: Parts, notes: Notes): ContextSource {
  return {
    id: "notes",
    isNeeded: ({ request, model }) =>
      noteIds(request.files).length + noteIds(model.meta["knowledge"]).length > 0,
    async gather(run) {
      const problems: string[] = [];
      const named = readsFiles(run) ? await readNamed(run, { parts, notes, problems }) : [];
      if (!readsFiles(run) && noteIds(run.request.files).length > 0) {
        problems.push("This model is not given what files say, so it did not see your notes.");
      }
      const lent = await lentNotes(parts, run.principal, run.model);
      const isGiven =
        run.mode === "legacy" || toObject(run.model.meta["builtinTools"])["knowledge"] === false;
      const given = [...named, ...(isGiven && readsFiles(run) ? lent : [])];
      return {
        sources: toSources(given, problems),
        ...(!isGiven && lent.length > 0 && { instructions: toList(lent) }),
        problems,
      };
    },
  };
}

async function readNamed(
  { principal, request }: ContextRun,
  { parts, notes, problems }: { parts: Parts; notes: Notes; problems: string[] },
): Promise<NoteRow[]> {
  const rows: NoteRow[] = [];
  for (const id of noteIds(request.files)) {
    const row = parts.isOpen(principal) ? await unlessGone(() => notes.read(principal, id)) : undefined;
    if (row === undefined) {
      problems.push("A note is gone, or may not be read by you any more.");
    } else {
      rows.push(row);
    }
  }
  return rows;
}

function toSources(rows: readonly NoteRow[], problems: string[]): Source[] {
  let left = mostChars;
  return rows.flatMap((row) => {
    const content = row.content.slice(0, left);
    left -= content.length;
    if (content.length < row.content.length) {
      problems.push(`“${row.title}” is too long to be given whole: it was given the beginning.`);
    }
    if (content === "") {
      return [];
    }
    const whole = content.length === row.content.length;
    return [
      {
        source: { id: row.id, name: row.title, type: "note" },
        document: [content],
        metadata: [
          { source: row.title, name: row.title, note_id: row.id, start: 0, end: content.length, whole },
        ],
      },
    ];
  });
}

function toList(rows: readonly NoteRow[]): string {
  const items = rows.map(
    ({ id, title }) => `<note>\n<id>${id}</id>\n<title>${escape(title)}</title>\n</note>`,
  );
  return `<available_notes>\n${items.join("\n")}\n</available_notes>\n\nRead one of these notes with the tool view_note when the question may be about it.`;
}

/** Refuses notes of a request that its caller may not read, before anything is written (contract D.37). */
export function createNoteItems({ isOpen, heads }: NoteParts): ContextItems {
  return {
    types: ["note"],
    async require(principal, items) {
      for (const { id } of items) {
        if (typeof id !== "string" || !isOpen(principal)) {
          throw new AppError("not_found", "Note not found");
        }
        await heads.load(principal, id, "read");
      }
    },
  };
}

/** Only a note that one may read can become knowledge of a model. */
export function createModelReferences({ isOpen, heads }: NoteParts): ModelReferences {
  return {
    id: "notes",
    types: ["note"],
    async readable(principal, _type, ids) {
      const found = await Promise.all(
        ids.map(async (id) =>
          isOpen(principal) && (await heads.find(principal, id, "read")) !== undefined ? [id] : [],
        ),
      );
      return new Set(found.flat());
    },
  };
}

const readsFiles = ({ model }: Pick<ContextRun, "model">): boolean =>
  toObject(model.meta["capabilities"])["file_context"] !== false;

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return undefined;
    }
    throw error;
  }
}
