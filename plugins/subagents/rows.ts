import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { SubagentParts } from "./parts.ts";
import type { Outcome, Task } from "./sub-chat.ts";
import type { SubagentRow } from "./tables.ts";

/** Seconds after which a process counts as dead that gives no sign of life. */
const staleAfter = 15;
/** Seconds that telling a result may take before another process tries. */
const tellingTakes = 20;
/** Sub-agents of one chat that are listed. */
const listed = 500;

export type Rows = ReturnType<typeof createRows>;

/** The rows of sub-agents: one process works on each, and one tells its result. */
export function createRows(parts: Pick<SubagentParts, "db" | "transaction" | "owner">) {
  return { ...working(parts), ...listing(parts), ...reporting(parts) };
}

type RowParts = Pick<SubagentParts, "db" | "transaction" | "owner">;

function working({ db, transaction, owner }: RowParts) {
  return {
    /** Undefined where as many work in the background as may (`maxAsync`; -1 for no limit). */
    async begin(task: Task, callId: string | undefined, maxAsync: number): Promise<SubagentRow | undefined> {
      return await transaction(async (tx) => {
        if (task.mode === "background" && maxAsync >= 0) {
          // Two that count at the same moment would both find the last place.
          await sql`select pg_advisory_xact_lock(hashtext('subagents.background'))`.execute(tx);
          const { running } = await tx
            .selectFrom("subagent")
            .select((eb) => eb.fn.countAll<string | number>().as("running"))
            .where("mode", "=", "background")
            .where("state", "=", "running")
            .executeTakeFirstOrThrow();
          if (Number(running) >= maxAsync) {
            return undefined;
          }
        }
        return await tx
          .insertInto("subagent")
          .values({
            id: task.id,
            user_id: task.principal.userId,
            chat_id: task.chatId,
            message_id: task.messageId ?? null,
            call_id: callId ?? null,
            mode: task.mode,
            task: task.task,
            state: "running",
            error: null,
            request: JSON.stringify(task.request),
            owner,
            beat_at: sql`now()`,
            report_at: null,
            report_token: 0,
            report_owner: null,
            created_at: seconds(),
            ended_at: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
    },

    /** Undefined where the row is gone, or was given up for this process. */
    async end(id: string, { state, error }: Omit<Outcome, "output">): Promise<SubagentRow | undefined> {
      return await db
        .updateTable("subagent")
        .set({ state, error, ended_at: seconds(), report_at: reportTime })
        .where("id", "=", id)
        .where("state", "=", "running")
        .where("owner", "=", owner)
        .returningAll()
        .executeTakeFirst();
    },

    async beat(ids: readonly string[]): Promise<void> {
      await db
        .updateTable("subagent")
        .set({ beat_at: sql`now()` })
        .where("id", "in", ids)
        .where("owner", "=", owner)
        .execute();
    },

    /** Ends what processes left behind that died or stand still. */
    async giveUp(): Promise<SubagentRow[]> {
      return await db
        .updateTable("subagent")
        .set({
          state: "interrupted",
          error: "The server stopped during the work.",
          ended_at: seconds(),
          report_at: reportTime,
        })
        .where("state", "=", "running")
        .where("beat_at", "<", sql<Date>`now() - make_interval(secs => ${staleAfter})`)
        .returningAll()
        .execute();
    },
  };
}

function listing({ db }: RowParts) {
  return {
    async ofChat(chatId: string): Promise<SubagentRow[]> {
      const newest = await db
        .selectFrom("subagent")
        .selectAll()
        .where("chat_id", "=", chatId)
        .orderBy("created_at", "desc")
        .orderBy("call_id", "desc")
        .limit(listed)
        .execute();
      return newest.toReversed();
    },

    /** Forgets the sub-agents of a chat; resolves to their ids. */
    async forgetChat(chatId: string): Promise<string[]> {
      const gone = await db.deleteFrom("subagent").where("chat_id", "=", chatId).returning("id").execute();
      return gone.map(({ id }) => id);
    },

    async forgetUser(userId: string): Promise<void> {
      await db.deleteFrom("subagent").where("user_id", "=", userId).execute();
    },
  };
}

/** Gives results to the calls that wait for them, and posts the others into their chats. */
const reportTime = sql<Date | null>`case when mode = 'background' then now() end`;

function reporting({ db, owner }: RowParts) {
  return {
    /**
     * Takes up to `max` results that are to be told, one for each chat; those first that a process left half told. A
     * second process that takes one of the same chat at this moment fails (`subagent_reporting`), and looks again.
     */
    async takeReports(max: number): Promise<SubagentRow[]> {
      return await db
        .updateTable("subagent")
        .set({
          report_at: sql<Date>`now() + make_interval(secs => ${tellingTakes})`,
          report_token: sql<number>`report_token + 1`,
          report_owner: owner,
        })
        .where(
          "id",
          "in",
          sql<string>`(select id from (
            select distinct on (s.chat_id) s.id, s.report_at from subagent s
            where s.report_at <= now() and not exists (
              select from subagent o where o.chat_id = s.chat_id and o.id <> s.id and o.report_owner is not null)
            order by s.chat_id, s.report_at, s.id) as due
            order by report_at limit ${max})`,
        )
        .where("report_at", "<=", sql<Date>`now()`)
        .returningAll()
        .execute();
    },

    /** False where another process tells it by now; else there is time for it from now on. */
    async keepReport({ id, report_token: token }: SubagentRow): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable("subagent")
        .set({ report_at: sql<Date>`now() + make_interval(secs => ${tellingTakes})` })
        .where("id", "=", id)
        .where("report_token", "=", token)
        .where("report_owner", "=", owner)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** Gives a report back: as told, or to be tried again in so many seconds. */
    async releaseReport(
      { id, report_token: token }: SubagentRow,
      againIn: number | undefined,
    ): Promise<void> {
      await db
        .updateTable("subagent")
        .set({
          report_owner: null,
          report_at: againIn === undefined ? null : sql<Date>`now() + make_interval(secs => ${againIn})`,
        })
        .where("id", "=", id)
        .where("report_token", "=", token)
        .execute();
    },
  };
}
