import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { toContains } from "#storage/values.ts";
import type { NoteParts } from "../parts.ts";
import type { SearchQuery } from "../schema.ts";
import type { NoteRow } from "../tables.ts";
import { selectPermitted } from "./note-store.ts";
import { showItems } from "./record.ts";

/** Notes of one page (contract §0). */
const pageSize = 60;
/** Notes that a list without pages gives. */
const mostListed = 1_000;

export type Listing = ReturnType<typeof createListing>;

/** Lists of the notes that a caller may read. */
export function createListing(parts: NoteParts) {
  const { db, access } = parts;
  const permitted = (caller: Principal, permission: "read" | "write" = "read", all = access.passes(caller)) =>
    selectPermitted(db, caller, { all, permission });

  /** Those that fit, without order or end. */
  function matching(caller: Principal, wanted: Pick<SearchQuery, "query" | "view_option" | "permission">) {
    const { query, view_option: view, permission } = wanted;
    const words = query.trim().split(/\s+/).filter(Boolean).slice(0, 10);
    // Administrators may read every note; shared with them are those that somebody gave them.
    const isOpen = view !== "shared" && access.passes(caller);
    return permitted(caller, permission === "write" ? "write" : "read", isOpen)
      .$if(view === "created", (found) => found.where("note.user_id", "=", caller.userId))
      .$if(view === "shared", (found) => found.where("note.user_id", "<>", caller.userId))
      .$if(permission === "read_only" && !access.passes(caller), (found) =>
        found.where("note.id", "not in", permitted(caller, "write").select("note.id")),
      )
      .$if(words.length > 0, (found) =>
        found.where((eb) =>
          eb.and(
            words.map((word) =>
              eb.or([
                eb("note.title", "ilike", toContains(word)),
                eb("note.content", "ilike", toContains(word)),
              ]),
            ),
          ),
        ),
      );
  }

  return {
    async all(caller: Principal, page: number | undefined) {
      const rows = await permitted(caller)
        .selectAll("note")
        .orderBy("note.updated_at", "desc")
        .orderBy("note.id")
        .limit(page === undefined ? mostListed : pageSize)
        .offset(page === undefined ? 0 : (page - 1) * pageSize)
        .execute();
      return await showItems(parts, caller, rows);
    },

    async pinned(caller: Principal) {
      const rows = await permitted(caller)
        .innerJoin("pinned_note", "pinned_note.note_id", "note.id")
        .where("pinned_note.user_id", "=", caller.userId)
        .selectAll("note")
        .orderBy("pinned_note.created_at")
        .limit(mostListed)
        .execute();
      return await showItems(parts, caller, rows);
    },

    async search(caller: Principal, wanted: SearchQuery) {
      const fitting = matching(caller, wanted);
      const column = wanted.order_by || "updated_at";
      const [rows, counted] = await Promise.all([
        fitting
          .selectAll("note")
          .orderBy(column === "title" ? sql`lower(note.title)` : sql.ref(`note.${column}`), wanted.direction)
          .orderBy("note.id")
          .limit(pageSize)
          .offset((wanted.page - 1) * pageSize)
          .execute(),
        fitting.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
      ]);
      return { items: await showItems(parts, caller, rows), total: Number(counted.total) };
    },

    /** For tools: the newest that hold all words. */
    async find(caller: Principal, query: string, limit: number): Promise<NoteRow[]> {
      return await matching(caller, { query, view_option: "", permission: "" })
        .selectAll("note")
        .orderBy("note.updated_at", "desc")
        .limit(limit)
        .execute();
    },
  };
}
