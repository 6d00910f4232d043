import type { Grants } from "#storage/grants.ts";
import { seconds } from "#storage/clock.ts";
import type { PluginContext } from "#kernel/plugin.ts";
import type { ModelTables } from "./tables.ts";

/** A saved model with who may read or write it. */
export interface ModelRecord {
  readonly id: string;
  readonly user_id: string;
  readonly base_model_id: string | null;
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly is_active: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly grants: readonly { principal_type: string; principal_id: string; permission: string }[];
}

/** All records by id. Kept in memory: the way of a completion must not wait for the database. */
export interface ModelRecords {
  all(): Promise<ReadonlyMap<string, ModelRecord>>;
  /** Drops the copy in memory, here and (with `announce`) on all replicas. */
  forget(): void;
  seed(record: { id: string; name: string; meta: object; params: object }): Promise<boolean>;
}

type Context = Pick<PluginContext<never, never, ModelTables>, "db" | "transaction">;

/** Reads records through a copy in memory that is dropped when a replica announces a change. */
export function createModelRecords({ db, transaction }: Context, grants: Grants): ModelRecords {
  let loading: Promise<ReadonlyMap<string, ModelRecord>> | undefined;

  async function load(): Promise<ReadonlyMap<string, ModelRecord>> {
    const rows = await db.selectFrom("model").selectAll().execute();
    const granted = await grants.list(
      "model",
      rows.map(({ id }) => id),
    );
    return new Map(
      rows.map((row) => [
        row.id,
        { ...row, grants: granted.filter((grant) => grant.resource_id === row.id) },
      ]),
    );
  }

  return {
    all() {
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
    forget() {
      loading = undefined;
    },
    seed: ({ id, name, meta, params }) =>
      transaction(async (tx) => {
        const now = seconds();
        const first = await tx
          .insertInto("model_seed")
          .values({ id, created_at: now })
          .onConflict((conflict) => conflict.doNothing())
          .returning("id")
          .executeTakeFirst();
        if (first === undefined) {
          return false;
        }
        const row = {
          id,
          name,
          user_id: "",
          base_model_id: null,
          meta: JSON.stringify(meta),
          params: JSON.stringify(params),
          is_active: true,
          created_at: now,
          updated_at: now,
        };
        await tx
          .insertInto("model")
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await grants.replace(tx, "model", id, [
          { principal_type: "user", principal_id: "*", permission: "read" },
        ]);
        return true;
      }),
  };
}
