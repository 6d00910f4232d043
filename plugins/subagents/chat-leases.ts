import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { SubagentDatabase } from "./tables.ts";

/** Seconds that putting a message into a chat may take before another process tries. */
const lasts = 20;

export type ChatLeases = ReturnType<typeof createChatLeases>;

/**
 * Leases of chats for messages of the system: two put into one chat at the same moment, on whatever replicas, would be
 * two branches of it.
 */
export function createChatLeases(db: SubagentDatabase) {
  const take = async (chatId: string, owner: string): Promise<boolean> => {
    const until = sql<Date>`now() + make_interval(secs => ${lasts})`;
    const taken = await db
      .insertInto("chat_continuation")
      .values({ chat_id: chatId, owner, until })
      .onConflict((conflict) =>
        conflict
          .column("chat_id")
          .doUpdateSet({ owner, until })
          .where("chat_continuation.until", "<=", sql<Date>`now()`),
      )
      .returning("chat_id")
      .executeTakeFirst();
    return taken !== undefined;
  };

  return {
    /** Undefined, and nothing is done, while somebody else holds the chat. */
    async during<T>(chatId: string, work: () => Promise<T>): Promise<T | undefined> {
      const owner = randomUUID();
      if (!(await take(chatId, owner))) {
        return undefined;
      }
      try {
        return await work();
      } finally {
        await db
          .deleteFrom("chat_continuation")
          .where("chat_id", "=", chatId)
          .where("owner", "=", owner)
          .execute();
      }
    },
  };
}
