import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { anyOf, toContains } from "#storage/values.ts";
import type { SkillParts } from "../parts.ts";
import type { ListQuery } from "../schema.ts";
import type { SkillRow } from "../tables.ts";
import { showSkills } from "./record.ts";
import { readFiles, selectPermitted } from "./skill-store.ts";

/** Skills of one page (contract §0). */
const pageSize = 30;

export type Listing = ReturnType<typeof createListing>;

/** Lists of the skills that a caller may read. */
export function createListing(parts: SkillParts) {
  const { db, access, accounts } = parts;
  const permitted = (caller: Principal, permission: "read" | "write" = "read") =>
    selectPermitted(db, caller, { all: access.passes(caller), permission });

  async function withOwners(caller: Principal, rows: readonly SkillRow[]) {
    const people = await accounts.summaries(rows.map(({ user_id }) => user_id));
    const shown = await showSkills(parts, caller, rows);
    return shown.map(({ content: _content, files: _files, ...record }) => ({
      ...record,
      user: people.get(record.user_id) ?? null,
    }));
  }

  return {
    async all(caller: Principal) {
      return await withOwners(caller, await permitted(caller).selectAll("skill").orderBy("name").execute());
    },

    async page(caller: Principal, wanted: ListQuery) {
      const { query = "", view_option: view, tag, is_active: isActive } = wanted;
      const matching = permitted(caller)
        .$if(view === "created", (found) => found.where("skill.user_id", "=", caller.userId))
        .$if(view === "shared", (found) => found.where("skill.user_id", "<>", caller.userId))
        .$if(isActive !== undefined, (found) => found.where("skill.is_active", "=", isActive as boolean))
        .$if(tag !== undefined && tag !== "", (found) =>
          found.where(sql<boolean>`skill.meta -> 'tags' @> jsonb_build_array(${tag}::text)`),
        )
        .$if(query.trim() !== "", (found) =>
          found.where((eb) => {
            const pattern = toContains(query.trim());
            const columns = ["skill.id", "skill.name", "skill.description"] as const;
            return eb.or(columns.map((column) => eb(column, "ilike", pattern)));
          }),
        );
      const column = sql.ref(`skill.${wanted.order_by}`);
      const [rows, counted] = await Promise.all([
        matching
          .selectAll("skill")
          .orderBy(wanted.order_by === "name" ? sql`lower(${column})` : column, wanted.direction)
          .orderBy("skill.id")
          .limit(pageSize)
          .offset((wanted.page - 1) * pageSize)
          .execute(),
        matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
      ]);
      return { items: await withOwners(caller, rows), total: Number(counted.total) };
    },

    /** Those that the caller may change, with their files. */
    async export(caller: Principal) {
      const rows = await permitted(caller, "write").selectAll("skill").orderBy("id").execute();
      const shown = await showSkills(parts, caller, rows);
      return await Promise.all(
        shown.map(async (record) => ({
          ...record,
          files: (await readFiles(db, record.id)).map(({ path, content }) => ({
            path,
            content: Buffer.from(content).toString("base64"),
          })),
        })),
      );
    },

    /** Those of some skills, named by id, that are in use and that the caller may read, in the order given. */
    async among(caller: Principal, ids: readonly string[]): Promise<SkillRow[]> {
      if (ids.length === 0) {
        return [];
      }
      const rows = await permitted(caller)
        .selectAll("skill")
        .where("skill.id", "=", anyOf(ids))
        .where("skill.is_active", "=", true)
        .execute();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
    },
  };
}
