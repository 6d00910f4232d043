import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { toContains } from "#storage/values.ts";
import type { PromptParts } from "../parts.ts";
import type { ListQuery } from "../schema.ts";
import type { PromptRow } from "../tables.ts";
import { selectPermitted } from "./prompt-store.ts";
import { type PromptShown, showPrompts } from "./record.ts";

/** Prompts of one page (contract §0). */
const pageSize = 30;

export type Listing = ReturnType<typeof createListing>;

/** Lists of the prompts that a caller may read. */
export function createListing(parts: PromptParts) {
  const { db, access, accounts } = parts;
  const permitted = (caller: Principal, permission: "read" | "write" = "read") =>
    selectPermitted(db, caller, { all: access.passes(caller), permission });

  async function withOwners(caller: Principal, rows: readonly PromptRow[]) {
    const people = await accounts.summaries(rows.map(({ user_id }) => user_id));
    const shown = await showPrompts(parts, caller, rows);
    return shown.map((record) => ({ ...record, user: people.get(record.user_id) ?? null }));
  }

  return {
    async all(caller: Principal) {
      const rows = await permitted(caller).selectAll("prompt").orderBy("updated_at", "desc").execute();
      return await withOwners(caller, rows);
    },

    async page(caller: Principal, wanted: ListQuery) {
      const { query = "", view_option: view, tag, is_active: isActive } = wanted;
      const matching = permitted(caller)
        .$if(view === "created", (found) => found.where("prompt.user_id", "=", caller.userId))
        .$if(view === "shared", (found) => found.where("prompt.user_id", "<>", caller.userId))
        .$if(isActive !== undefined, (found) => found.where("prompt.is_active", "=", isActive as boolean))
        .$if(tag !== undefined && tag !== "", (found) =>
          found.where(
            sql<boolean>`exists (select 1 from jsonb_array_elements_text(prompt.tags) as one(tag)
              where lower(one.tag) = lower(${tag}))`,
          ),
        )
        .$if(query.trim() !== "", (found) =>
          found.where((eb) => {
            const pattern = toContains(query.trim().replace(/^\//, ""));
            return eb.or([
              eb("prompt.name", "ilike", pattern),
              eb("prompt.command", "ilike", pattern),
              eb("prompt.content", "ilike", pattern),
            ]);
          }),
        );
      const isText = wanted.order_by === "name" || wanted.order_by === "command";
      const column = sql.ref(`prompt.${wanted.order_by}`);
      const [rows, counted] = await Promise.all([
        matching
          .selectAll("prompt")
          .orderBy(isText ? sql`lower(${column})` : column, wanted.direction)
          .orderBy("prompt.id")
          .limit(pageSize)
          .offset((wanted.page - 1) * pageSize)
          .execute(),
        matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
      ]);
      return { items: await withOwners(caller, rows), total: Number(counted.total) };
    },

    /** Those that the caller may change. */
    async export(caller: Principal): Promise<PromptShown[]> {
      const rows = await permitted(caller, "write").selectAll("prompt").orderBy("command").execute();
      return await showPrompts(parts, caller, rows);
    },

    async tags(caller: Principal): Promise<string[]> {
      const rows = await permitted(caller)
        .innerJoin(
          sql<{ tag: string }>`lateral jsonb_array_elements_text(prompt.tags)`.as<"one">(sql`one(tag)`),
          (join) => join.onTrue(),
        )
        .select("one.tag")
        .distinct()
        .execute();
      return rows.map(({ tag }) => tag).toSorted((a, b) => a.localeCompare(b));
    },
  };
}
