import { type Expression, type SqlBool, sql } from "kysely";
import type { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { granted } from "#storage/grants.ts";
import type { DetailedModel, SavedModels } from "./saved-models.ts";
import { type ModelParts, resourceType } from "../parts.ts";
import type { ListQuery } from "../schema.ts";
import { selectRows } from "./store.ts";

const pageSize = 30;

export interface Listing {
  /** One page of the workspace models the caller may see, and how many there are. */
  page(
    caller: Principal,
    query: z.output<typeof ListQuery>,
  ): Promise<{ items: DetailedModel[]; total: number }>;
  /** The tags of the workspace models the caller may see. */
  tags(caller: Principal): Promise<string[]>;
  /** Records that edit providers' models. */
  base(caller: Principal): Promise<DetailedModel[]>;
  baseTags(): Promise<string[]>;
  /** Every saved record, those that no connection offers included. */
  all(caller: Principal): Promise<DetailedModel[]>;
}

/** Lists of saved models; who may see what is decided in the query, so that pages neither repeat nor skip. */
export function createListing({ db, permit }: ModelParts, { show }: Pick<SavedModels, "show">): Listing {
  const visible = (caller: Principal) =>
    selectRows(db)
      .where("model.base_model_id", "is not", null)
      .$if(!permit.all(caller), (query) =>
        query.where((eb) =>
          eb.or([
            eb("model.user_id", "=", caller.userId),
            granted(eb, resourceType, "model.id", caller, "read"),
          ]),
        ),
      );

  return {
    async page(caller, { query, view_option: view, tag, order_by: order, direction, page }) {
      const found = visible(caller)
        .$if(Boolean(query?.trim()), (rows) => rows.where(contains(query ?? "")))
        .$if(Boolean(tag), (rows) => rows.where(isTagged(tag ?? "")))
        .$if(view === "created", (rows) => rows.where("model.user_id", "=", caller.userId))
        .$if(view === "shared", (rows) => rows.where("model.user_id", "<>", caller.userId));
      const { total } = await db
        .selectFrom(found.as("found"))
        .select((eb) => eb.fn.countAll<number>().as("total"))
        .executeTakeFirstOrThrow();
      const way = direction ?? (order === "name" ? "asc" : "desc");
      const rows = await found
        .orderBy(order === "name" ? sql`lower(model.name)` : `model.${order ?? "updated_at"}`, way)
        .orderBy("model.id")
        .limit(pageSize)
        .offset((page - 1) * pageSize)
        .execute();
      return { items: await show(caller, rows), total: Number(total) };
    },

    tags: (caller) => readTags(visible(caller)),
    base: async (caller) =>
      show(
        caller,
        await selectRows(db).where("model.base_model_id", "is", null).orderBy("model.id").execute(),
      ),
    baseTags: () => readTags(selectRows(db).where("model.base_model_id", "is", null)),
    all: async (caller) =>
      show(caller, await selectRows(db).orderBy("model.created_at").orderBy("model.id").execute()),
  };

  async function readTags(rows: ReturnType<typeof visible>): Promise<string[]> {
    const query = db
      .selectFrom(rows.as("found"))
      .innerJoin(
        sql<{ value: unknown }>`jsonb_array_elements(${tagList("found")})`.as<"tag">(sql`tag(value)`),
        (join) => join.onTrue(),
      )
      .select(sql<string>`tag.value ->> 'name'`.as("name"))
      .where(sql<SqlBool>`tag.value ->> 'name' is not null`)
      .distinct()
      .orderBy("name");
    return (await query.execute()).map(({ name }) => name);
  }
}

/** `meta.tags`, whatever a record holds there. */
function tagList(table: "found" | "model") {
  const tags = sql`${sql.ref(`${table}.meta`)} -> 'tags'`;
  return sql`case when jsonb_typeof(${tags}) = 'array' then ${tags} else '[]'::jsonb end`;
}

function isTagged(tag: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from jsonb_array_elements(${tagList("model")}) as tag(value)
    where tag.value ->> 'name' = ${tag})`;
}

/** `%` and `_` in what a person typed are themselves. */
function contains(query: string): Expression<SqlBool> {
  const pattern = `%${query.trim().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<SqlBool>`(model.id ilike ${pattern} or model.name ilike ${pattern}
    or model.base_model_id ilike ${pattern} or model.meta ->> 'description' ilike ${pattern})`;
}
