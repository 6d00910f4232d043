import { randomUUID } from "node:crypto";
import { nanoseconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { ChannelDatabase } from "../tables.ts";

/** Reactions of one name to a message. */
export interface Reaction {
  readonly name: string;
  readonly users: { id: string; name: string }[];
  count: number;
}

/** By message, in the order in which each name came first. */
export async function reactionsOf(
  db: ChannelDatabase,
  messageIds: readonly string[],
): Promise<Map<string, Reaction[]>> {
  const rows =
    messageIds.length === 0
      ? []
      : await db
          .selectFrom("message_reaction")
          .innerJoin("user", "user.id", "message_reaction.user_id")
          .select([
            "message_reaction.message_id",
            "message_reaction.name",
            "user.id",
            "user.name as user_name",
          ])
          .where("message_reaction.message_id", "=", anyOf(messageIds))
          .orderBy("message_reaction.created_at")
          .execute();
  const found = new Map<string, Reaction[]>();
  for (const row of rows) {
    const list = found.get(row.message_id) ?? [];
    found.set(row.message_id, list);
    let reaction = list.find(({ name }) => name === row.name);
    if (reaction === undefined) {
      reaction = { name: row.name, users: [], count: 0 };
      list.push(reaction);
    }
    reaction.users.push({ id: row.id, name: row.user_name });
    reaction.count += 1;
  }
  return found;
}

/** Different reactions that one message may carry. */
export const mostNames = 50;

/** Resolves to false where it stands already. */
export async function addReaction(
  db: ChannelDatabase,
  reaction: { userId: string; messageId: string; name: string },
): Promise<boolean> {
  const row = await db
    .insertInto("message_reaction")
    .values({
      id: randomUUID(),
      user_id: reaction.userId,
      message_id: reaction.messageId,
      name: reaction.name,
      created_at: nanoseconds(),
    })
    .onConflict((conflict) => conflict.columns(["message_id", "user_id", "name"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Resolves to false where there was none. */
export async function removeReaction(
  db: ChannelDatabase,
  { userId, messageId, name }: { userId: string; messageId: string; name: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("message_reaction")
    .where("message_id", "=", messageId)
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
