import { randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { ChannelDatabase, WebhookTable } from "../tables.ts";

export type WebhookRow = Selectable<WebhookTable>;

export async function findWebhook(db: ChannelDatabase, id: string): Promise<WebhookRow | undefined> {
  return await db.selectFrom("channel_webhook").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function listWebhooks(db: ChannelDatabase, channelId: string): Promise<WebhookRow[]> {
  return await db
    .selectFrom("channel_webhook")
    .selectAll()
    .where("channel_id", "=", channelId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

export async function insertWebhook(
  db: ChannelDatabase,
  row: Pick<WebhookRow, "channel_id" | "user_id" | "name" | "profile_image_url" | "token">,
): Promise<WebhookRow> {
  const now = seconds();
  return await db
    .insertInto("channel_webhook")
    .values({ id: randomUUID(), ...row, last_used_at: null, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateWebhook(
  db: ChannelDatabase,
  id: string,
  change: Partial<Pick<WebhookRow, "name" | "profile_image_url">>,
): Promise<WebhookRow | undefined> {
  return await db
    .updateTable("channel_webhook")
    .set({ ...change, updated_at: seconds() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/** Notes that the webhook has posted. */
export async function stampWebhook(db: ChannelDatabase, id: string): Promise<void> {
  await db.updateTable("channel_webhook").set({ last_used_at: seconds() }).where("id", "=", id).execute();
}

export async function deleteWebhook(db: ChannelDatabase, id: string): Promise<void> {
  await db.deleteFrom("channel_webhook").where("id", "=", id).execute();
}
