import { randomUUID } from "node:crypto";
import { seconds } from "#storage/clock.ts";
import type { AccountChanges } from "../account-changes.ts";
import type { Bots } from "./bots-service.ts";

/** Creates the part of the service that apps keep their bots with. */
export function createBots(changes: Pick<AccountChanges, "announce">): Bots {
  return {
    async create(tx, { name, picture }) {
      const id = randomUUID();
      const now = seconds();
      await tx
        .insertInto("user")
        .values({
          id,
          // The column is unique; nobody receives mail below this name (RFC 2606), and no sign-in looks at bots.
          email: `${id}@bot.invalid`,
          name,
          role: "user",
          is_bot: true,
          profile_image_url: picture ?? "/user.png",
          last_active_at: now,
          created_at: now,
          updated_at: now,
        })
        .execute();
      return id;
    },
    async update(tx, userId, { name, picture }) {
      await tx
        .updateTable("user")
        .set({
          ...(name !== undefined && { name }),
          ...(picture !== undefined && { profile_image_url: picture ?? "/user.png" }),
          updated_at: seconds(),
        })
        .where("id", "=", userId)
        .where("is_bot", "=", true)
        .execute();
    },
    async remove(tx, userId) {
      await tx.deleteFrom("user").where("id", "=", userId).where("is_bot", "=", true).execute();
    },
    changed: (userId) => changes.announce({ userId }),
  };
}
