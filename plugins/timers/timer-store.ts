import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { CancelledBy, TimerDatabase, TimerRow, TimerTable, Transact } from "./tables.ts";

/** Timers of one chat that are listed. */
const listed = 500;
/** Timers that wait at once. */
const mostOfChat = 20;
const mostOfUser = 100;
/** Timers of one chat within an hour: a chat that goes on by itself must come to rest. */
const mostOfHour = 60;
const hour = 3_600;
/** Seconds that firing may take before another process tries. */
const firingTakes = 20;

interface StoreParts {
  readonly db: TimerDatabase;
  readonly transaction: Transact;
  /** This process; a new one after every start. */
  readonly owner: string;
}

export type NewTimer = Pick<
  TimerTable,
  "id" | "user_id" | "chat_id" | "message_id" | "question_id" | "call_id" | "prompt" | "due_at"
> & { readonly cancel_on: readonly string[]; readonly request: object };

export type TimerStore = ReturnType<typeof createTimerStore>;

/** The rows of timers. One process fires each: it holds a claim that others take over when it has run out. */
export const createTimerStore = (parts: StoreParts) => ({
  ...keeping(parts),
  ...cancelling(parts),
  ...claiming(parts),
});

function keeping({ db, transaction }: StoreParts) {
  return {
    /** Throws `rate_limited` where as many wait as may. */
    async add({ cancel_on: cancelOn, request, ...timer }: NewTimer): Promise<TimerRow> {
      const now = seconds();
      return await transaction(async (tx) => {
        // Two that count at the same moment would both find the last place.
        await sql`select pg_advisory_xact_lock(hashtext('timers'), hashtext(${timer.user_id}))`.execute(tx);
        await requireRoom(tx, timer, now);
        return await tx
          .insertInto("timer")
          .values({
            ...timer,
            cancel_on: JSON.stringify(cancelOn),
            request: JSON.stringify(request),
            state: "waiting",
            cancelled_by: null,
            created_at: now,
            ended_at: null,
            claim_owner: null,
            claim_until: null,
            claim_token: 0,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
    },

    find: async (id: string): Promise<TimerRow | undefined> =>
      await db.selectFrom("timer").selectAll().where("id", "=", id).executeTakeFirst(),

    /** The newest, oldest first. */
    async ofChat(chatId: string): Promise<TimerRow[]> {
      const newest = await db
        .selectFrom("timer")
        .selectAll()
        .where("chat_id", "=", chatId)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(listed)
        .execute();
      return newest.toReversed();
    },

    /** Next due first. */
    waitingOf: async (by: { readonly chat_id: string } | { readonly user_id: string }): Promise<TimerRow[]> =>
      await db
        .selectFrom("timer")
        .selectAll()
        .where((eb) => eb.and(by))
        .where("state", "=", "waiting")
        .orderBy("due_at")
        .orderBy("id")
        .execute(),
  };
}

async function requireRoom(
  tx: TimerDatabase,
  { user_id: userId, chat_id: chatId }: NewTimer | Pick<NewTimer, "user_id" | "chat_id">,
  now: number,
): Promise<void> {
  const { ofUser, ofChat } = await tx
    .selectFrom("timer")
    .select((eb) => [
      eb.fn.countAll<string>().as("ofUser"),
      eb.fn.countAll<string>().filterWhere("chat_id", "=", chatId).as("ofChat"),
    ])
    .where("user_id", "=", userId)
    .where("state", "=", "waiting")
    .executeTakeFirstOrThrow();
  if (Number(ofChat) >= mostOfChat) {
    throw new AppError("rate_limited", `${mostOfChat} timers wait in this chat, and no more may.`);
  }
  if (Number(ofUser) >= mostOfUser) {
    throw new AppError("rate_limited", `${mostOfUser} timers of this person wait, and no more may.`);
  }
  const { recent } = await tx
    .selectFrom("timer")
    .select((eb) => eb.fn.countAll<string>().as("recent"))
    .where("chat_id", "=", chatId)
    .where("created_at", ">", now - hour)
    .executeTakeFirstOrThrow();
  if (Number(recent) >= mostOfHour) {
    throw new AppError(
      "rate_limited",
      `${mostOfHour} timers were set in this chat within an hour, and no more may.`,
    );
  }
}

/** Picks waiting timers. */
export interface TimerChoice {
  readonly id?: string;
  readonly userId?: string;
  readonly chatIds?: readonly string[];
  readonly messageId?: string;
  /** Those alone that this event ends. */
  readonly on?: string;
  /** Those are left out that a reply to this message has set. */
  readonly notAnswering?: string;
}

function cancelling({ db }: StoreParts) {
  return {
    /** Resolves to those that waited until now. */
    cancel: async (choice: TimerChoice, by: CancelledBy): Promise<TimerRow[]> =>
      await db
        .updateTable("timer")
        .set({ state: "cancelled", cancelled_by: by, ended_at: seconds() })
        .where("state", "=", "waiting")
        .where((eb) => {
          const { id, userId, chatIds, messageId, on, notAnswering } = choice;
          return eb.and([
            ...(id === undefined ? [] : [eb("id", "=", id)]),
            ...(userId === undefined ? [] : [eb("user_id", "=", userId)]),
            ...(chatIds === undefined ? [] : [eb("chat_id", "in", chatIds)]),
            ...(messageId === undefined ? [] : [eb("message_id", "=", messageId)]),
            ...(on === undefined ? [] : [sql<boolean>`cancel_on @> ${JSON.stringify([on])}::jsonb`]),
            ...(notAnswering === undefined
              ? []
              : [sql<boolean>`question_id is distinct from ${notAnswering}`]),
          ]);
        })
        .returningAll()
        .execute(),
  };
}

const claimEnd = sql<Date>`now() + make_interval(secs => ${firingTakes})`;

function claiming({ db, owner }: StoreParts) {
  return {
    /** Claims up to `max` that are due; those first that have waited longest since their time or the last try. */
    claimDue: async (max: number): Promise<TimerRow[]> =>
      await db
        .updateTable("timer")
        .set({ claim_owner: owner, claim_until: claimEnd, claim_token: sql`claim_token + 1` })
        .where("id", "in", (eb) =>
          eb
            .selectFrom("timer")
            .select("id")
            .where("state", "=", "waiting")
            .where("due_at", "<=", seconds())
            .where(sql<boolean>`(claim_until is null or claim_until <= now())`)
            .orderBy(sql`coalesce(claim_until, to_timestamp(due_at))`)
            .orderBy("id")
            .limit(max)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .execute(),

    /** False where the timer was cancelled, or another process fires it by now; else there is time from now on. */
    async keepClaim({ id, claim_token: token }: TimerRow): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable("timer")
        .set({ claim_until: claimEnd })
        .where("id", "=", id)
        .where("claim_token", "=", token)
        .where("claim_owner", "=", owner)
        .where("state", "=", "waiting")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** Gives a claim back, to be tried again in so many seconds. */
    async release({ id, claim_token: token }: TimerRow, againIn: number): Promise<void> {
      await db
        .updateTable("timer")
        .set({ claim_owner: null, claim_until: sql<Date>`now() + make_interval(secs => ${againIn})` })
        .where("id", "=", id)
        .where("claim_token", "=", token)
        .execute();
    },

    /** A timer that was told has fired, even where somebody cancelled it at that moment. */
    async fired({ id, claim_token: token }: TimerRow): Promise<TimerRow[]> {
      return await db
        .updateTable("timer")
        .set({ state: "fired", cancelled_by: null, ended_at: seconds(), claim_owner: null })
        .where("id", "=", id)
        .where("claim_token", "=", token)
        .returningAll()
        .execute();
    },
  };
}
