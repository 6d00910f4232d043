import { randomUUID } from "node:crypto";
import type { EventEnvelope } from "#kernel/event-envelope.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Job, Jobs } from "#kernel/jobs.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { DeliveryRow, NotificationDatabase } from "../tables.ts";
import { type Address, type Outcome, post } from "./post.ts";

export const deliveryJob = "notifications.deliver";
/** Tries that one receiver gets at the same time from one process: one that hangs takes no other's turn. */
const mostAtOnce = 2;
/** Seconds that a delivery waits for its turn at such a receiver. */
const turnSeconds = 5;
/** Deliveries of one receiver that wait at the same time; further events are not queued. */
const mostPending = 1000;
/** Tries of one delivery in all; the pauses grow from seconds to minutes. */
export const mostTries = 8;
/** Largest envelope that is queued, in bytes of JSON; the data of a larger one is left out. */
const mostBytes = 262_144;
const keptDays = 30;
const perDay = 86_400;
/** Seconds after which a delivery without a try counts as lost on its way into the queue; shorter when a process starts. */
const untriedSeconds = 60;
export const untriedAtStart = 1;

export interface DeliveryParts {
  readonly db: NotificationDatabase;
  readonly egress: Pick<Egress, "fetch">;
  readonly jobs: Pick<Jobs, "enqueue">;
  /** The address as it is now; a text says why nothing may be sent there any more. */
  addressOf(row: Pick<DeliveryRow, "webhook_id" | "target_id" | "event">): Promise<Address | string>;
  /** Told of what became of a delivery for good. */
  ended?(row: Pick<DeliveryRow, "webhook_id">, isDelivered: boolean): Promise<void>;
}

/** The receiver of a delivery: an event webhook or a person's target. */
export type Receiver = { readonly webhookId: string } | { readonly targetId: string };

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Sends events to addresses through the durable queue, and keeps a log of what became of each. */
export function createDeliveries(parts: DeliveryParts) {
  const { db } = parts;
  const underWay = new Map<string, number>();
  return {
    /** False when too many deliveries of the receiver wait already. */
    queue: (receiver: Receiver, envelope: EventEnvelope) => queue(parts, receiver, envelope),

    /** Deletes what is known of a receiver, also what waits. */
    async forget(webhookId: string): Promise<void> {
      await db.deleteFrom("event_delivery").where("webhook_id", "=", webhookId).execute();
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

    /** Queues again what was never tried within `after` seconds, as when the process stopped in between. */
    async resume(after = untriedSeconds): Promise<void> {
      const now = seconds();
      const lost = await db
        .updateTable("event_delivery")
        .set({ updated_at: now })
        .where("status", "=", "pending")
        .where("attempts", "=", 0)
        .where("updated_at", "<", now - after)
        .returning("id")
        .execute();
      for (const { id } of lost) {
        await parts.jobs.enqueue(deliveryJob, { id });
      }
    },

    job: {
      id: deliveryJob,
      title: "Delivers notifications and webhooks",
      retries: mostTries - 1,
      expiresIn: 60,
      concurrency: 8,
      run: (data, { signal }) =>
        deliver(parts, { id: String((data as { id?: unknown }).id), signal, underWay }),
    } satisfies Job,
  };
}

async function queue(
  { db, jobs }: DeliveryParts,
  receiver: Receiver,
  envelope: EventEnvelope,
): Promise<boolean> {
  if ("webhookId" in receiver && (await countPending(db, receiver.webhookId)) >= mostPending) {
    return false;
  }
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
  await jobs.enqueue(deliveryJob, { id });
  return true;
}

async function countPending(db: NotificationDatabase, webhookId: string): Promise<number> {
  const { count } = await db
    .selectFrom("event_delivery")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("webhook_id", "=", webhookId)
    .where("status", "=", "pending")
    .executeTakeFirstOrThrow();
  return Number(count);
}

interface Try {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Tries under way in this process, by receiver. */
  readonly underWay: Map<string, number>;
}

/** One try of a delivery. Throws when another one shall follow, so that the queue waits and hands it out again. */
async function deliver(parts: DeliveryParts, { id, signal, underWay }: Try): Promise<void> {
  const { db } = parts;
  const row = await db.selectFrom("event_delivery").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined || row.status !== "pending") {
    return;
  }
  const receiver = row.webhook_id ?? row.target_id ?? "";
  const count = underWay.get(receiver) ?? 0;
  if (count >= mostAtOnce) {
    // Touched, so that it does not count as lost meanwhile.
    await db.updateTable("event_delivery").set({ updated_at: seconds() }).where("id", "=", id).execute();
    await parts.jobs.enqueue(deliveryJob, { id }, { after: turnSeconds });
    return;
  }
  underWay.set(receiver, count + 1);
  let outcome: Outcome;
  try {
    outcome = await attempt(parts, row, signal);
  } finally {
    const left = (underWay.get(receiver) ?? 1) - 1;
    if (left === 0) {
      underWay.delete(receiver);
    } else {
      underWay.set(receiver, left);
    }
  }
  await note(parts, row, outcome);
}

async function attempt(parts: DeliveryParts, row: DeliveryRow, signal: AbortSignal): Promise<Outcome> {
  const address = await parts.addressOf(row);
  return typeof address === "string"
    ? { kind: "refused", status: null, error: address, again: false }
    : await post(parts.egress, address, { id: row.id, envelope: row.envelope, signal });
}

async function note(parts: DeliveryParts, row: DeliveryRow, outcome: Outcome): Promise<void> {
  const attempts = row.attempts + 1;
  const isAgain = outcome.kind === "refused" && outcome.again && attempts < mostTries;
  await parts.db
    .updateTable("event_delivery")
    .set({
      status: outcome.kind === "delivered" ? "delivered" : isAgain ? "pending" : "failed",
      attempts,
      last_status: outcome.status,
      last_error: outcome.kind === "refused" ? outcome.error : null,
      updated_at: seconds(),
    })
    .where("id", "=", row.id)
    .execute();
  if (isAgain) {
    throw new Error(outcome.error);
  }
  await parts.ended?.(row, outcome.kind === "delivered");
}

/** The row as logs show it: the line for people in the place of the envelope. */
export function toLogged({ envelope, webhook_id: _webhook, target_id: _target, ...row }: DeliveryRow) {
  return { ...row, message: envelope.message };
}

function bound(envelope: EventEnvelope): EventEnvelope {
  return Buffer.byteLength(JSON.stringify(envelope)) <= mostBytes
    ? envelope
    : { ...envelope, data: { left_out: "The data is larger than 256 KiB." } };
}
