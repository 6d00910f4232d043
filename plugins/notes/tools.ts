import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolRun, type ToolSource } from "#kernel/tools/tool.ts";
import type { Models } from "#plugins/models/service.ts";
import { lentNotes } from "./attached.ts";
import type { Listing } from "./library/listing.ts";
import { noteOfChat } from "./library/note-chats.ts";
import type { Notes } from "./library/notes.ts";
import { maxMarkdown } from "./web/text/limit.ts";
import { type NoteParts, permission } from "./parts.ts";
import type { NoteRow } from "./tables.ts";
import { toPlainText } from "./web/text/plain-text.ts";

const mostFound = 20;
/** Characters of a note that one call gives. */
const fewChars = 10_000;
const mostChars = 100_000;

export interface ToolParts {
  readonly parts: NoteParts & { readonly models: Pick<Models, "resolve"> };
  readonly notes: Notes;
  readonly listing: Listing;
}

const text = (description: string) => ({ type: "string", description });
const whole = (description: string) => ({ type: "integer", description });

/** Contract §3.6, category `notes`. */
const common = { category: "notes", permission } as const satisfies Partial<Tool>;

/**
 * Built-in tools over the notes that the caller may use (contract §3.6). In a chat about a note they are left out: its
 * text is there. A model that brings notes along has `view_note` for them, whoever may read them otherwise.
 */
export function createNoteTools(tools: ToolParts): ToolSource {
  const { parts } = tools;
  const own = [searchTool(tools), viewTool(tools, undefined), writeTool(tools), replaceTool(tools)];
  return {
    id: "notes",
    granted: async () => [],
    async select({ principal, run }) {
      if (run === undefined) {
        return own;
      }
      const lent = await lentNotes(parts, principal, run.model);
      const isAbout = (await noteOfChat(parts, principal, run.chatId)) !== undefined;
      const offered = isAbout || !parts.isOpen(principal) ? [] : own;
      return lent.length === 0
        ? offered
        : [...offered.filter(({ spec }) => spec.name !== "view_note"), viewTool(tools, run)];
    },
  };
}

function searchTool({ parts, listing }: ToolParts): Tool {
  return defineTool({
    ...common,
    id: "notes.search_notes",
    title: "Search notes",
    isParallel: true,
    spec: {
      name: "search_notes",
      description: "Finds the user's notes by words of their titles and texts, newest first.",
      parameters: {
        type: "object",
        properties: {
          query: text("Words that the note holds; empty for all notes"),
          count: whole(`Most results, up to ${mostFound}; 5 when left out`),
        },
        required: ["query"],
      },
    },
    async run({ query, count }, { principal }) {
      requireOpen(parts, principal);
      const limit = toNumber(count, { least: 1, most: mostFound, otherwise: 5 });
      const rows = await listing.find(principal, String(query ?? ""), limit);
      return rows.map((row) => ({
        id: row.id,
        title: row.title,
        snippet: toSnippet(row.content, String(query ?? "")),
        updated_at: toTime(row.updated_at),
      }));
    },
  });
}

/** With a run it reads what the run's model lends as well. */
function viewTool({ parts, notes }: ToolParts, run: ToolRun | undefined): Tool {
  return defineTool({
    // A model's own notes belong to its knowledge, and everybody who may use it has them.
    ...(run === undefined ? common : { category: "knowledge" }),
    id: "notes.view_note",
    title: "Read a note",
    isParallel: true,
    spec: {
      name: "view_note",
      description: "Reads a note as Markdown.",
      parameters: {
        type: "object",
        properties: {
          note_id: text("Id of the note"),
          offset: whole("Character to begin at; 0 when left out"),
          max_chars: whole(`Most characters, up to ${mostChars}; ${fewChars} when left out`),
        },
        required: ["note_id"],
      },
    },
    async run({ note_id: id, offset, max_chars: chars }, { principal }) {
      const lent = run === undefined ? [] : await lentNotes(parts, principal, run.model);
      const row = lent.find((one) => one.id === id) ?? (await readOwn({ parts, notes }, principal, id));
      const start = toNumber(offset, { least: 0, most: maxMarkdown, otherwise: 0 });
      const length = toNumber(chars, { least: 1, most: mostChars, otherwise: fewChars });
      return {
        ...toFacts(row),
        content: row.content.slice(start, start + length),
        total_chars: row.content.length,
        truncated: row.content.length > start + length,
      };
    },
  });
}

function writeTool({ parts, notes }: ToolParts): Tool {
  return defineTool({
    ...common,
    id: "notes.write_note",
    isActing: true,
    title: "Write a note",
    spec: {
      name: "write_note",
      description: "Creates a note of the user, which nobody else can read.",
      parameters: {
        type: "object",
        properties: { title: text("Title"), content: text("Text, in Markdown") },
        required: ["title", "content"],
      },
    },
    async run({ title, content }, { principal }) {
      requireOpen(parts, principal);
      const md = requireText(content);
      const made = await notes.create(principal, {
        title: String(title ?? "").slice(0, 500),
        data: { content: { md } },
      });
      return { status: "success", id: made.id, title: made.title, created_at: toTime(made.created_at) };
    },
  });
}

function replaceTool({ parts, notes }: ToolParts): Tool {
  return defineTool({
    ...common,
    id: "notes.replace_note_content",
    isActing: true,
    title: "Change a note",
    spec: {
      name: "replace_note_content",
      description: "Replaces the text of a note. The old text stays in the note's history.",
      parameters: {
        type: "object",
        properties: {
          note_id: text("Id of the note"),
          content: text("The whole new text, in Markdown"),
          title: text("A new title; left out, it stays"),
        },
        required: ["note_id", "content"],
      },
    },
    async run({ note_id: id, content, title }, { principal }) {
      requireOpen(parts, principal);
      const made = await notes.update(principal, String(id), {
        data: { content: { md: requireText(content) } },
        ...(typeof title === "string" && title !== "" && { title: title.slice(0, 500) }),
      });
      return { status: "success", id: made.id, title: made.title, updated_at: toTime(made.updated_at) };
    },
  });
}

function requireOpen(parts: NoteParts, principal: Principal): void {
  if (!parts.isOpen(principal)) {
    throw new AppError("forbidden", "Notes are switched off.");
  }
}

async function readOwn(
  { parts, notes }: Pick<ToolParts, "parts" | "notes">,
  principal: Principal,
  id: unknown,
): Promise<NoteRow> {
  requireOpen(parts, principal);
  return await notes.read(principal, String(id));
}

function requireText(content: unknown): string {
  if (typeof content !== "string") {
    throw new AppError("invalid", "content: give the text as Markdown.");
  }
  if (content.length > maxMarkdown) {
    throw new AppError("too_large", `content: a note holds ${maxMarkdown} characters at most.`);
  }
  return content;
}

const toFacts = ({ id, title, created_at: made, updated_at: changed }: NoteRow) => ({
  id,
  title,
  created_at: toTime(made),
  updated_at: toTime(changed),
});

const toTime = (time: number | bigint): string => new Date(Number(BigInt(time) / 1_000_000n)).toISOString();

function toSnippet(content: string, query: string): string {
  const [word = ""] = query.trim().toLowerCase().split(/\s+/);
  const at = word === "" ? 0 : Math.max(0, content.toLowerCase().indexOf(word) - 80);
  return toPlainText(content.slice(at, at + 300));
}

function toNumber(
  value: unknown,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  const wanted = Number(value ?? otherwise);
  return Number.isInteger(wanted) ? Math.min(Math.max(wanted, least), most) : otherwise;
}
