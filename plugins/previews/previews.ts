import { randomBytes } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { PreviewDatabase, PreviewTable } from "./tables.ts";

/** A panel shows its document at once; afterwards nobody needs it. */
const lifeSeconds = 600;
const mostBytes = 5_000_000;
/** Each panel has one; what a person left behind beyond these goes first. */
const mostPerPerson = 10;

export type Previews = ReturnType<typeof createPreviews>;

/** Documents that people put down for frames to read, on whichever replica the frame asks. */
export function createPreviews(db: PreviewDatabase) {
  return {
    /** Throws `too_large` beyond 5 MB. */
    async add(userId: string, { kind, content }: { kind: PreviewTable["kind"]; content: string }) {
      const bytes = Buffer.from(content);
      if (bytes.length > mostBytes) {
        throw new AppError("too_large", "A preview has 5 MB at most.");
      }
      const id = randomBytes(32).toString("base64url");
      const expires_at = seconds() + lifeSeconds;
      await db
        .insertInto("preview")
        .values({ id, user_id: userId, kind, content: bytes, expires_at })
        .execute();
      await dropSurplus(db, userId, id);
      return { id, expires_at };
    },

    /** Throws `not_found` for a document that never was, was removed or has expired. */
    async read(id: string): Promise<Pick<PreviewTable, "kind" | "content">> {
      const row = await db
        .selectFrom("preview")
        .select(["kind", "content"])
        .where("id", "=", id)
        .where("expires_at", ">", seconds())
        .executeTakeFirst();
      if (row === undefined) {
        throw new AppError("not_found", "This preview is gone. Open it again in its chat.");
      }
      return row;
    },

    /** Throws `not_found` for documents of others as for those that are gone. */
    async remove(userId: string, id: string): Promise<void> {
      const { numDeletedRows } = await db
        .deleteFrom("preview")
        .where("id", "=", id)
        .where("user_id", "=", userId)
        .executeTakeFirst();
      if (numDeletedRows === 0n) {
        throw new AppError("not_found", "Not found");
      }
    },

    async dropExpired(): Promise<void> {
      await db.deleteFrom("preview").where("expires_at", "<=", seconds()).execute();
    },
  };
}

/** Removes the oldest beyond the limit, never the one that was just added. */
async function dropSurplus(db: PreviewDatabase, userId: string, added: string): Promise<void> {
  const newest = db
    .selectFrom("preview")
    .select("id")
    .where("user_id", "=", userId)
    .where("id", "!=", added)
    .orderBy("expires_at", "desc")
    .orderBy("id")
    .limit(mostPerPerson - 1);
  await db
    .deleteFrom("preview")
    .where("user_id", "=", userId)
    .where("id", "!=", added)
    .where("id", "not in", newest)
    .execute();
}
