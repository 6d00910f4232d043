import type { EventEnvelope } from "#kernel/event-envelope.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { DeliveryRow } from "./tables.ts";
import type { Address, Outcome } from "./deliveries/post.ts";

export type { Address, Outcome } from "./deliveries/post.ts";
export { Delivery as DeliveryShape, TestResult as DeliveryTestShape } from "./schema.ts";

/** A delivery as logs show it. */
export type LoggedDelivery = Omit<DeliveryRow, "envelope" | "webhook_id" | "target_id"> & {
  readonly message: string;
};

/** Receivers of events that another plugin knows, such as apps. */
export interface DeliveryReceivers {
  /** The first part of their names: the receiver `<kind>:<id>`. */
  readonly kind: string;
  /** The address as it is now; a text says why nothing may be sent there any more. */
  addressOf(id: string): Promise<Address | string>;
  /** Told when a delivery has gone through, or was given up. */
  ended(id: string, isDelivered: boolean): Promise<void>;
}
export const deliveryReceivers = defineSlot<DeliveryReceivers>("notifications.delivery-receivers");

/** Sends events to addresses: signed, with retries and growing pauses, by one replica, with a log of 30 days. */
export interface EventDeliveries {
  /** False when 1,000 deliveries of the receiver wait already. */
  queue(receiver: string, envelope: EventEnvelope): Promise<boolean>;
  /** The last 100 deliveries, newest first. */
  list(receiver: string): Promise<LoggedDelivery[]>;
  /** Queues a delivery that was given up once more; false when it is none of that receiver's. */
  retry(receiver: string, id: string): Promise<boolean>;
  /** Deletes all deliveries of a receiver, also what waits. */
  forget(receiver: string): Promise<void>;
  /** One post at once, without the queue; never throws but for an abort. */
  post(address: Address, envelope: EventEnvelope, signal: AbortSignal): Promise<Outcome>;
}
export const eventDeliveries = defineService<EventDeliveries>("notifications.deliveries");
