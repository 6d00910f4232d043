import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { Database } from "./database.ts";
import { withReservedConnection } from "./reserved-connection.ts";
import { anyOf } from "./values.ts";

/** An answer as it was sent the first time. */
export interface StoredAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** The claim of one request; a later takeover has another holder. */
export interface OwnClaim {
  readonly scope: string;
  readonly holder: string;
}

export type Claim =
  | { readonly state: "claimed"; readonly own: OwnClaim }
  | { readonly state: "running" }
  | { readonly state: "done"; readonly fingerprint: string; readonly answer: StoredAnswer };

export interface IdempotencyStore {
  /** Claims the scope for this request, or returns the existing claim. Atomic over all replicas. */
  claim(scope: string): Promise<Claim>;
  /** Renews claims whose requests still run; claims that are not renewed may be taken over. */
  renew(claims: readonly OwnClaim[]): Promise<void>;
  /** Stores the answer, unless somebody else took the claim over. */
  settle(own: OwnClaim, fingerprint: string, answer: StoredAnswer): Promise<void>;
  /** Gives the scope back: the request failed and may be sent again. */
  release(own: OwnClaim): Promise<void>;
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
  holder: string | null;
  renewed_at: number | null;
}

const keptSeconds = 24 * 60 * 60;
/** A claim without an answer expires after this time without renewal; longer than most outages. */
const leaseSeconds = 120;
/** The same for one that was made before claims were renewed. */
const unrenewedSeconds = 900;

// The database's own clock: those of two replicas may differ by more than a lease.
const now = sql<number>`extract(epoch from clock_timestamp())::bigint`;
const isAbandoned = sql<boolean>`(idempotent_answer.status is null and case
  when idempotent_answer.renewed_at is null then idempotent_answer.created_at < ${now} - ${sql.lit(unrenewedSeconds)}
  else idempotent_answer.renewed_at < ${now} - ${sql.lit(leaseSeconds)} end)`;
const isOutdated = sql<boolean>`(idempotent_answer.status is not null
  and idempotent_answer.created_at < ${now} - ${sql.lit(keptSeconds)})`;

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
  "0002_holders": {
    async up(db) {
      await db.schema
        .alterTable("idempotent_answer")
        .addColumn("holder", "text")
        .addColumn("renewed_at", "bigint")
        .execute();
    },
  },
};

/** Keeps the answers of keyed requests for 24 hours (contract D.5). */
export function createIdempotencyStore({ db }: Pick<Database, "db">): IdempotencyStore {
  return {
    async claim(scope) {
      const own = { scope, holder: crypto.randomUUID() };
      const empty = { fingerprint: "", status: null, content_type: null, body: null };
      const row = { ...own, ...empty, created_at: now, renewed_at: now };
      // One statement: of any number of equal requests at once exactly one gets the row back.
      const taken = await db
        .insertInto("idempotent_answer")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column("scope")
            .doUpdateSet(row)
            .where((eb) => eb.or([isAbandoned, isOutdated])),
        )
        .returning("scope")
        .executeTakeFirst();
      if (taken) {
        return { state: "claimed", own };
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

    async renew(claims) {
      await withReservedConnection(() =>
        db
          .updateTable("idempotent_answer")
          .set({ renewed_at: now })
          .where("scope", "=", anyOf(claims.map(({ scope }) => scope)))
          .where("holder", "=", anyOf(claims.map(({ holder }) => holder)))
          .where("status", "is", null)
          .execute(),
      );
    },

    async settle({ scope, holder }, fingerprint, { status, contentType, body }) {
      await db
        .updateTable("idempotent_answer")
        .set({ fingerprint, status, content_type: contentType, body })
        .where("scope", "=", scope)
        .where("holder", "=", holder)
        .execute();
    },

    async release({ scope, holder }) {
      await db
        .deleteFrom("idempotent_answer")
        .where("scope", "=", scope)
        .where("holder", "=", holder)
        .where("status", "is", null)
        .execute();
    },

    async sweep() {
      await db
        .deleteFrom("idempotent_answer")
        .where("created_at", "<", sql<number>`${now} - ${sql.lit(keptSeconds)}`)
        .where((eb) => eb.or([isAbandoned, isOutdated]))
        .execute();
    },
  };
}
