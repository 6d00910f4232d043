import { seconds } from "#storage/clock.ts";
import type { Address, DeliveryReceivers } from "#plugins/notifications/service.ts";
import { areChannelsOn, type AppParts } from "../parts.ts";
import type { AppRow } from "../tables.ts";
import { secretPlace } from "../registry/keys.ts";

/** Milliseconds within which an app has to answer a post: it does its work afterwards. */
const answerMs = 5_000;
/** Deliveries in a row that are given up before the app is switched off. */
const mostFailures = 10;

interface ReceiverParts extends Pick<
  AppParts,
  "db" | "accounts" | "channels" | "configuration" | "isEnabled" | "privateOrigins" | "record" | "seal"
> {
  changed(): Promise<void>;
}

/** The address of an app for a post now. */
export function toAddress(
  { seal, privateOrigins }: Pick<AppParts, "seal" | "privateOrigins">,
  row: AppRow,
): Address | string {
  if (row.url === null) {
    return "The app has no address for events.";
  }
  return {
    url: row.url,
    form: "raw",
    // Private addresses are refused unless a variable names their origin (contract D.15).
    trust: "user",
    allowedOrigins: privateOrigins(),
    timeoutMs: answerMs,
    secret: String(seal.open(row.sealed_secret, secretPlace(row.id))),
  };
}

/** Apps as receivers of deliveries. An app that does not take its events is switched off, and says why. */
export function createReceivers(parts: ReceiverParts): DeliveryReceivers {
  const { db } = parts;
  return {
    kind: "app",
    async addressOf(id) {
      const row = await db.selectFrom("app").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined || !row.enabled || !parts.isEnabled() || !areChannelsOn(parts)
        ? "The app is switched off or gone."
        : toAddress(parts, row);
    },
    async ended(id, isDelivered) {
      if (isDelivered) {
        await db
          .updateTable("app")
          .set({ failures: 0 })
          .where("id", "=", id)
          .where("failures", ">", 0)
          .execute();
        return;
      }
      const row = await db
        .updateTable("app")
        .set((eb) => ({ failures: eb("failures", "+", 1) }))
        .where("id", "=", id)
        .where("enabled", "=", true)
        .returning(["failures", "name", "user_id"])
        .executeTakeFirst();
      if (row !== undefined && row.failures >= mostFailures) {
        await switchOff(parts, { id, ...row });
      }
    },
  };
}

async function switchOff(
  { db, accounts, changed, record }: ReceiverParts,
  { id, name, user_id: userId }: Pick<AppRow, "id" | "name" | "user_id">,
): Promise<void> {
  const reason = `${mostFailures} events in a row could not be delivered. Look at the delivery log, then switch it on again.`;
  const { numUpdatedRows } = await db
    .updateTable("app")
    .set({ enabled: false, disabled_reason: reason, updated_at: seconds() })
    .where("id", "=", id)
    .where("enabled", "=", true)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) {
    const object = { type: "app", id, name };
    await record({
      action: "app.updated",
      object,
      before: { enabled: true },
      after: { enabled: false },
      by: null,
    });
    await Promise.all([accounts.bots.changed(userId), changed()]);
  }
}
