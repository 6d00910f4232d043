import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { anyOf, toContains } from "#storage/values.ts";
import type { KnowledgeParts } from "../parts.ts";
import type { SearchQuery } from "../schema.ts";
import type { CollectionRow } from "../tables.ts";
import { selectPermitted } from "./collection-store.ts";
import { showCollections } from "./record.ts";

/** Collections of one page (contract §0). */
export const pageSize = 30;

export type Listing = ReturnType<typeof createListing>;

/** Lists of the collections that a caller may read. */
export function createListing(parts: KnowledgeParts) {
  const { db, access, accounts } = parts;
  const readable = (caller: Principal) =>
    selectPermitted(db, caller, { all: access.passes(caller), permission: "read" });

  async function page(caller: Principal, wanted: SearchQuery) {
    if (wanted.source === "external") {
      return { items: [], total: 0 };
    }
    const { query: text, view_option: view } = wanted;
    const matching = readable(caller)
      .$if(view === "created", (query) => query.where("knowledge.user_id", "=", caller.userId))
      .$if(view === "shared", (query) => query.where("knowledge.user_id", "<>", caller.userId))
      .$if(text !== undefined && text.trim() !== "", (query) =>
        query.where((eb) => {
          const pattern = toContains((text as string).trim());
          return eb.or([
            eb("knowledge.name", "ilike", pattern),
            eb("knowledge.description", "ilike", pattern),
          ]);
        }),
      );
    const by =
      wanted.order_by === "name" ? sql`lower(knowledge.name)` : sql.ref(`knowledge.${wanted.order_by}`);
    const [rows, counted] = await Promise.all([
      matching
        .selectAll("knowledge")
        .orderBy(by, wanted.direction)
        .orderBy("knowledge.id")
        .limit(pageSize)
        .offset((wanted.page - 1) * pageSize)
        .execute(),
      matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
    ]);
    const people = await accounts.summaries(rows.map(({ user_id }) => user_id));
    const shown = await showCollections(parts, caller, rows);
    const items = shown.map((record) => ({ ...record, user: people.get(record.user_id) ?? null }));
    return { items, total: Number(counted.total) };
  }

  return {
    page,

    /** Those of some collections that the caller may read, in the order given. */
    async among(caller: Principal, ids: readonly string[]): Promise<CollectionRow[]> {
      const rows = await readable(caller)
        .selectAll("knowledge")
        .where("knowledge.id", "=", anyOf(ids))
        .execute();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
    },

    /** The first `limit` collections that the caller may read, by name. */
    all: (caller: Principal, limit: number): Promise<CollectionRow[]> =>
      readable(caller)
        .selectAll("knowledge")
        .orderBy(sql`lower(knowledge.name)`)
        .orderBy("knowledge.id")
        .limit(limit)
        .execute(),

    /** True when there is any. */
    async isAny(caller: Principal): Promise<boolean> {
      return (await readable(caller).select("knowledge.id").limit(1).executeTakeFirst()) !== undefined;
    },
  };
}
