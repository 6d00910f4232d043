import { randomUUID } from "node:crypto";
import type { EventEnvelope } from "#kernel/event-envelope.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Job, Jobs } from "#kernel/jobs.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { DeliveryRow, NotificationDatabase } from "../tables.ts";
import { type Address, type Outcome, post } from "./post.ts";

export const deliveryJob = "notifications.deliver";
/** Tries of one delivery in all; the pauses grow from seconds to minutes. */
export const mostTries = 8;
/** Largest envelope that is queued, in bytes of JSON; the data of a larger one is left out. */
const mostBytes = 262_144;
const keptDays = 30;
const perDay = 86_400;
/** Seconds after which a delivery without a try counts as lost on its way into the queue. */
const untriedSeconds = 60;

export interface DeliveryParts {
  readonly db: NotificationDatabase;
  readonly egress: Pick<Egress, "fetch">;
  readonly jobs: Pick<Jobs, "enqueue">;
  /** The address as it is now; a text says why nothing may be sent there any more. */
  addressOf(row: Pick<DeliveryRow, "webhook_id" | "target_id" | "event">): Promise<Address | string>;
}

/** The receiver of a delivery: an event webhook or a person's target. */
export type Receiver = { readonly webhookId: string } | { readonly targetId: string };

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Sends events to addresses through the durable queue, and keeps a log of what became of each. */
export function createDeliveries(parts: DeliveryParts) {
  const { db } = parts;
  return {
    async queue(receiver: Receiver, envelope: EventEnvelope): Promise<void> {
      const id = randomUUID();
      const now = seconds();
      await db
        .insertInto("event_delivery")
        .values({
          id,
          webhook_id: "webhookId" in receiver ? receiver.webhookId : null,
          target_id: "targetId" in receiver ? receiver.targetId : null,
          event: envelope.event,
          envelope: toJson(bound(envelope)),
          status: "pending",
          attempts: 0,
          last_status: null,
          last_error: null,
          created_at: now,
          updated_at: now,
        })
        .execute();
      await parts.jobs.enqueue(deliveryJob, { id });
    },

    /** Deliveries of an event webhook, newest first. */
    async list(webhookId: string, limit: number): Promise<DeliveryRow[]> {
      return await db
        .selectFrom("event_delivery")
        .selectAll()
        .where("webhook_id", "=", webhookId)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(limit)
        .execute();
    },

    /** Queues a delivery that has failed for good once more; false when it is none of that webhook's. */
    async retry(webhookId: string, id: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable("event_delivery")
        .set({ status: "pending", attempts: 0, updated_at: seconds() })
        .where("id", "=", id)
        .where("webhook_id", "=", webhookId)
        .where("status", "=", "failed")
        .executeTakeFirst();
      if (numUpdatedRows > 0n) {
        await parts.jobs.enqueue(deliveryJob, { id });
      }
      return numUpdatedRows > 0n;
    },

    async sweep(): Promise<void> {
      await db
        .deleteFrom("event_delivery")
        .where("created_at", "<", seconds() - keptDays * perDay)
        .execute();
    },

    /** Queues again what was never tried, as when the process stopped in between. */
    async resume(): Promise<void> {
      const now = seconds();
      const lost = await db
        .updateTable("event_delivery")
        .set({ updated_at: now })
        .where("status", "=", "pending")
        .where("attempts", "=", 0)
        .where("updated_at", "<", now - untriedSeconds)
        .returning("id")
        .execute();
      for (const { id } of lost) {
        await parts.jobs.enqueue(deliveryJob, { id });
      }
    },

    job: {
      id: deliveryJob,
      retries: mostTries - 1,
      expiresIn: 60,
      concurrency: 4,
      run: (data, { signal }) => deliver(parts, String((data as { id?: unknown }).id), signal),
    } satisfies Job,
  };
}

/** One try of a delivery. Throws when another one shall follow, so that the queue waits and hands it out again. */
async function deliver(parts: DeliveryParts, id: string, signal: AbortSignal): Promise<void> {
  const { db } = parts;
  const row = await db.selectFrom("event_delivery").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined || row.status !== "pending") {
    return;
  }
  const address = await parts.addressOf(row);
  const outcome: Outcome =
    typeof address === "string"
      ? { kind: "refused", status: null, error: address, again: false }
      : await post(parts.egress, address, { id, envelope: row.envelope, signal });
  const attempts = row.attempts + 1;
  const isAgain = outcome.kind === "refused" && outcome.again && attempts < mostTries;
  await db
    .updateTable("event_delivery")
    .set({
      status: outcome.kind === "delivered" ? "delivered" : isAgain ? "pending" : "failed",
      attempts,
      last_status: outcome.status,
      last_error: outcome.kind === "refused" ? outcome.error : null,
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .execute();
  if (isAgain) {
    throw new Error(outcome.error);
  }
}

function bound(envelope: EventEnvelope): EventEnvelope {
  return Buffer.byteLength(JSON.stringify(envelope)) <= mostBytes
    ? envelope
    : { ...envelope, data: { left_out: "The data is larger than 256 KiB." } };
}
