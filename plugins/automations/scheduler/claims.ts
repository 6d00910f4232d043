import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { upcoming } from "./replan.ts";
import type { AutomationDatabase, AutomationRow, Claim, Transact } from "../tables.ts";

/** Seconds after which a claim that nobody keeps alive goes to another process. */
const staleAfter = 8;

interface Parts {
  readonly db: AutomationDatabase;
  readonly transaction: Transact;
  /** This process; a new one after every start. */
  readonly owner: string;
}

/** The rights to run: one for each automation and the time it was due, held by one process at a time (R6). */
export const createClaims = (parts: Parts) => ({ ...taking(parts), ...holding(parts) });

export type Claims = ReturnType<typeof createClaims>;

const fresh = (owner: string, automation: string, slot: number | null) => ({
  id: randomUUID(),
  automation_id: automation,
  slot,
  token: 1,
  owner,
  beat_at: sql<Date>`now()`,
  created_at: seconds(),
});

function taking({ db, transaction, owner }: Parts) {
  return {
    /**
     * Takes up to `max` automations that are due. However many times one was missed, it is taken once, and is next due
     * at its first time that lies ahead: after a sleep there is one run to catch up (R7).
     */
    async due(max: number): Promise<Claim[]> {
      const now = seconds();
      return await transaction(async (tx) => {
        const rows = await tx
          .selectFrom("automation")
          .selectAll()
          .where("is_active", "=", true)
          .where("next_run_at", "<=", now)
          .orderBy("next_run_at")
          .limit(max)
          .forUpdate()
          .skipLocked()
          .execute();
        if (rows.length === 0) {
          return [];
        }
        const changes = rows.map((row) => ({ id: row.id, next: findNext(row, now) }));
        await sql`update automation set next_run_at = change.next, last_run_at = ${now}
          from jsonb_to_recordset(${toJson(changes)}) as change (id text, next bigint)
          where automation.id = change.id`.execute(tx);
        const isNew = await findNew(tx, rows);
        const due = rows.filter(isNew).map((row) => fresh(owner, row.id, row.next_run_at));
        return due.length === 0
          ? []
          : await tx
              .insertInto("automation_claim")
              .values(due)
              .onConflict((conflict) => conflict.doNothing())
              .returningAll()
              .execute();
      });
    },

    /** The time when the next automation is due, in epoch seconds; null without one. */
    async soonest(): Promise<number | null> {
      const { at } = await db
        .selectFrom("automation")
        .select((eb) => eb.fn.min("next_run_at").as("at"))
        .where("is_active", "=", true)
        .executeTakeFirstOrThrow();
      return at === null ? null : Number(at);
    },

    async now(row: AutomationRow): Promise<Claim> {
      await db.updateTable("automation").set({ last_run_at: seconds() }).where("id", "=", row.id).execute();
      return await db
        .insertInto("automation_claim")
        .values(fresh(owner, row.id, null))
        .returningAll()
        .executeTakeFirstOrThrow();
    },

    /** Takes over what processes left behind that died or stand still. */
    async stale(max: number): Promise<Claim[]> {
      return await db
        .updateTable("automation_claim")
        .set({ owner, beat_at: sql`now()`, token: sql`token + 1` })
        .where("id", "in", (eb) =>
          eb
            .selectFrom("automation_claim")
            .select("id")
            // A heartbeat of the future is one from before the database's clock was set back.
            .where(sql<boolean>`abs(extract(epoch from now() - beat_at)) > ${staleAfter}`)
            .limit(max)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .execute();
    },
  };
}

function holding({ db, transaction, owner }: Parts) {
  return {
    /** Keeps claims alive; resolves to the ids of those that are still this process's. */
    async beat(ids: readonly string[]): Promise<Set<string>> {
      const kept = await db
        .updateTable("automation_claim")
        .set({ beat_at: sql`now()` })
        .where("id", "in", ids)
        .where("owner", "=", owner)
        .returning("id")
        .execute();
      return new Set(kept.map(({ id }) => id));
    },

    /** Gives a claim back together with the row of its run, unless another process has it by now. */
    async end(claim: Claim, outcome: { chatId: string | null; error: string | null }): Promise<boolean> {
      return await transaction(async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom("automation_claim")
          .where("id", "=", claim.id)
          .where("token", "=", claim.token)
          .executeTakeFirst();
        if (numDeletedRows === 0n) {
          return false;
        }
        await tx
          .insertInto("automation_run")
          .values({
            id: claim.id,
            automation_id: claim.automation_id,
            slot: claim.slot,
            chat_id: outcome.chatId,
            status: outcome.error === null ? "success" : "error",
            error: outcome.error,
            created_at: seconds(),
          })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        return true;
      });
    },
  };
}

/** Knows the automations that have not run at the time when they are due: after a clock was set back it may come again. */
async function findNew(tx: AutomationDatabase, rows: readonly AutomationRow[]) {
  const ran = await tx
    .selectFrom("automation_run")
    .select(["automation_id", "slot"])
    .where("automation_id", "=", anyOf(rows.map(({ id }) => id)))
    .where("slot", "in", [...new Set(rows.map(({ next_run_at: slot }) => slot))])
    .execute();
  const keys = new Set(ran.map(({ automation_id: id, slot }) => `${id} ${slot}`));
  return ({ id, next_run_at: slot }: AutomationRow) => !keys.has(`${id} ${slot}`);
}

const findNext = (row: AutomationRow, now: number): number | null =>
  upcoming(row, Math.max(now, row.next_run_at ?? now), 1)[0] ?? null;
