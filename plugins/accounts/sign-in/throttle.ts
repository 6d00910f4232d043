import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import type { AccountsDatabase } from "../tables.ts";

type SubjectKind = "email" | "user" | "address" | "signup";

/** Subject that tries are counted for: an account by its address or id, or the address a sign-in or sign-up comes from. */
export type Subject = `${SubjectKind}:${string}`;

/** Bounds the tries to guess a password, and to make accounts, over all replicas. */
export interface Throttle {
  /**
   * Counts one try for each subject. Throws `limit` with the seconds to wait when one of them has used its tries up;
   * a refused try counts for nobody, so that hammering does not lock the owner out for longer.
   */
  enter(subjects: readonly Subject[]): Promise<void>;
  /** Takes the last try back: the right password was given. */
  giveBack(subjects: readonly Subject[]): Promise<void>;
  /** Deletes counts that no longer matter. */
  sweep(): Promise<void>;
}

export interface ThrottleOptions {
  /** Tries within the window. */
  readonly limits: Readonly<Record<SubjectKind, number>>;
  /** Seconds. */
  readonly window: number;
}

/** 15 tries in 3 minutes for an account (contract 1.2); a whole company may sit behind one address, so that gets more. */
export const signInLimits: ThrottleOptions = {
  limits: { email: 15, user: 15, address: 300, signup: 100 },
  window: 180,
};

// The database's clock, so that replicas with differing clocks count alike.
const now = sql<number>`floor(extract(epoch from clock_timestamp()))::bigint`;

/** Creates a throttle that keeps the times of the last tries of each subject in the database. */
export function createThrottle(db: AccountsDatabase, { limits, window }: ThrottleOptions): Throttle {
  const giveBack = async (subjects: readonly Subject[]) => {
    await sql`
      update sign_in_throttle set tries = tries[1:cardinality(tries) - 1] where subject = any(${[...subjects]}::text[])
    `.execute(db);
  };
  return {
    giveBack,
    async enter(subjects) {
      const outcomes: Outcome[] = [];
      // One after the other in the caller's order: two requests can never wait for each other.
      for (const subject of subjects) {
        outcomes.push(await count(db, subject, { limit: limits[kindOf(subject)], window }));
      }
      const refused = outcomes.filter((outcome) => !outcome.allowed);
      if (refused.length > 0) {
        await giveBack(subjects.filter((_subject, index) => outcomes[index]?.allowed));
        const retryAfter = Math.max(...refused.map((outcome) => outcome.wait));
        throw new AppError("rate_limited", "Too many tries. Try again in a few minutes.", { retryAfter });
      }
    },
    async sweep() {
      await sql`delete from sign_in_throttle where updated_at < ${now} - ${window}::bigint`.execute(db);
    },
  };
}

function kindOf(subject: Subject): SubjectKind {
  return subject.slice(0, subject.indexOf(":")) as SubjectKind;
}

interface Outcome {
  readonly allowed: boolean;
  /** Seconds until there is room again. */
  readonly wait: number;
}

/** Keeps, in one statement, the tries that are still inside the window and adds this one when there is room. */
async function count(
  db: AccountsDatabase,
  subject: Subject,
  { limit, window }: { limit: number; window: number },
): Promise<Outcome> {
  const recent = sql`array(
    select t from unnest(sign_in_throttle.tries) t where t > ${now} - ${window}::bigint order by t
  )`;
  const { rows } = await sql<Outcome>`
    insert into sign_in_throttle (subject, tries, allowed, updated_at)
    values (${subject}, array[${now}], true, ${now})
    on conflict (subject) do update set
      tries = case when cardinality(${recent}) < ${limit}::int then ${recent} || ${now} else ${recent} end,
      allowed = cardinality(${recent}) < ${limit}::int,
      updated_at = ${now}
    returning allowed, (tries[1] + ${window}::bigint - ${now})::int as wait
  `.execute(db);
  return rows[0] ?? { allowed: true, wait: 0 };
}
