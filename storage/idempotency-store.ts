import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { seconds } from "./clock.ts";
import type { Database } from "./database.ts";

/** An answer as it was sent the first time. */
export interface StoredAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export type Claim =
  | { readonly state: "claimed" }
  | { readonly state: "running" }
  | { readonly state: "done"; readonly fingerprint: string; readonly answer: StoredAnswer };

export interface IdempotencyStore {
  /** Takes the scope for this request, or says who has it. Atomic over all replicas. */
  claim(scope: string): Promise<Claim>;
  settle(scope: string, fingerprint: string, answer: StoredAnswer): Promise<void>;
  /** Gives the scope back: the request failed and may be sent again. */
  release(scope: string): Promise<void>;
  /** Removes what is older than a day. */
  sweep(): Promise<void>;
}

export interface IdempotencyRow {
  scope: string;
  fingerprint: string;
  status: number | null;
  content_type: string | null;
  body: string | null;
  created_at: number;
}

const keptSeconds = 24 * 60 * 60;
/** A claim this old without an answer belongs to a process that died. */
const abandonedSeconds = 15 * 60;

export const idempotencyMigrations: Record<string, Migration> = {
  "0001_answers": {
    async up(db) {
      await db.schema
        .createTable("idempotent_answer")
        .addColumn("scope", "text", (column) => column.primaryKey())
        .addColumn("fingerprint", "text", (column) => column.notNull())
        .addColumn("status", "integer")
        .addColumn("content_type", "text")
        .addColumn("body", "text")
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("idempotent_answer_created_at")
        .on("idempotent_answer")
        .column("created_at")
        .execute();
    },
  },
};

/** Keeps the answers of keyed requests for 24 hours (contract D.5). */
export function createIdempotencyStore({ db }: Pick<Database, "db">): IdempotencyStore {
  return {
    async claim(scope) {
      const now = seconds();
      const row = { scope, fingerprint: "", status: null, content_type: null, body: null, created_at: now };
      // One statement: of any number of equal requests at once exactly one gets the row back.
      const taken = await db
        .insertInto("idempotent_answer")
        .values(row)
        .onConflict((conflict) =>
          conflict.column("scope").doUpdateSet(row)
            .where(sql<boolean>`idempotent_answer.created_at < ${now - keptSeconds}
              or (idempotent_answer.status is null and idempotent_answer.created_at < ${now - abandonedSeconds})`),
        )
        .returning("scope")
        .executeTakeFirst();
      if (taken) {
        return { state: "claimed" };
      }
      const other = (await db
        .selectFrom("idempotent_answer")
        .selectAll()
        .where("scope", "=", scope)
        .executeTakeFirst()) as IdempotencyRow | undefined;
      if (other === undefined || other.status === null) {
        return { state: "running" };
      }
      const answer = {
        status: other.status,
        contentType: other.content_type ?? "application/json",
        body: other.body ?? "",
      };
      return { state: "done", fingerprint: other.fingerprint, answer };
    },

    async settle(scope, fingerprint, { status, contentType, body }) {
      await db
        .updateTable("idempotent_answer")
        .set({ fingerprint, status, content_type: contentType, body })
        .where("scope", "=", scope)
        .execute();
    },

    async release(scope) {
      await db
        .deleteFrom("idempotent_answer")
        .where("scope", "=", scope)
        .where("status", "is", null)
        .execute();
    },

    async sweep() {
      await db
        .deleteFrom("idempotent_answer")
        .where("created_at", "<", seconds() - keptSeconds)
        .execute();
    },
  };
}
