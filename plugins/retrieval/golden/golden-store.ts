import { randomUUID } from "node:crypto";
import { seconds } from "#storage/clock.ts";
import type { NewQuestion, NewRun, QuestionResult } from "./schema.ts";
import type { GoldenDatabase } from "./tables.ts";

const columns = [
  "id",
  "user_id",
  "question",
  "files",
  "collections",
  "expected",
  "created_at",
  "updated_at",
] as const;

/** Runs that are kept of each person. */
const keptRuns = 50;

export type GoldenStore = ReturnType<typeof createGoldenStore>;
export type QuestionRow = NonNullable<Awaited<ReturnType<GoldenStore["find"]>>>;

/** Rows of golden questions and runs. */
export function createGoldenStore(db: GoldenDatabase) {
  return {
    find: (id: string) =>
      db.selectFrom("golden_question").select(columns).where("id", "=", id).executeTakeFirst(),

    list: (userId: string) =>
      db
        .selectFrom("golden_question")
        .select(columns)
        .where("user_id", "=", userId)
        .orderBy("number")
        .execute(),

    async add(userId: string, { expected, ...rest }: NewQuestion) {
      const now = seconds();
      return await db
        .insertInto("golden_question")
        .values({
          id: randomUUID(),
          user_id: userId,
          ...rest,
          expected: JSON.stringify(expected),
          created_at: now,
          updated_at: now,
        })
        .returning(columns)
        .executeTakeFirstOrThrow();
    },

    async change(id: string, { expected, ...rest }: NewQuestion) {
      return await db
        .updateTable("golden_question")
        .set({ ...rest, expected: JSON.stringify(expected), updated_at: seconds() })
        .where("id", "=", id)
        .returning(columns)
        .executeTakeFirst();
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom("golden_question").where("id", "=", id).execute();
    },

    async addRun(userId: string, run: NewRun & { readonly results: readonly QuestionResult[] }) {
      const { id } = await db
        .insertInto("golden_run")
        .values({
          id: randomUUID(),
          user_id: userId,
          k: run.k,
          settings: JSON.stringify(run.settings),
          results: JSON.stringify(run.results),
          created_at: seconds(),
        })
        .returning("id")
        .executeTakeFirstOrThrow();
      const old = db
        .selectFrom("golden_run")
        .select("id")
        .where("user_id", "=", userId)
        .orderBy("number", "desc")
        .offset(keptRuns);
      await db.deleteFrom("golden_run").where("id", "in", old).execute();
      return id;
    },

    /** Newest first. */
    runs: (userId: string) =>
      db
        .selectFrom("golden_run")
        .selectAll()
        .where("user_id", "=", userId)
        .orderBy("number", "desc")
        .limit(keptRuns)
        .execute(),
  };
}
