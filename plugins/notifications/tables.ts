import type { ColumnType, Selectable } from "kysely";
import type { EventEnvelope } from "#kernel/event-envelope.ts";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** Names are written as JSON texts (`toJson`). */
type Json<T> = ColumnType<T, unknown, unknown>;

/** Forms in which an address takes a delivery; `auto` tells them by the host. */
export const forms = ["auto", "raw", "slack", "discord", "teams", "google_chat"] as const;
export type Form = (typeof forms)[number];

/** Sentences of the platform's own in notifications. */
export const phraseKinds = [
  "starts_now",
  "starts_in",
  "reply_ready",
  "in_channel",
  "waits",
  "invited",
  "answered",
  "shared_note",
  "shared_calendar",
] as const;

/** The platform's own words of a notification: the body, for `in_channel` the title. */
export interface Phrase {
  readonly kind: (typeof phraseKinds)[number];
  readonly values: Readonly<Record<string, string | number>>;
}

/** One line of a person's notification centre. Times are epoch seconds. */
export interface NotificationTable {
  id: string;
  user_id: string;
  /** Name of the system event that it tells of (appendix A10). */
  event: string;
  title: string;
  body: string;
  /** Null where no words are the platform's own. */
  phrase: Json<Phrase | null>;
  /** Page of the interface where it leads; null without one. */
  path: string | null;
  read_at: number | null;
  created_at: number;
}

/** An address to which a person has the own notifications sent (contract §9). */
export interface TargetTable {
  id: string;
  user_id: string;
  type: "webhook";
  enabled: boolean;
  events: Json<readonly string[]>;
  delivery: "away" | "always";
  is_default: boolean;
  sealed_url: string;
  created_at: number;
  updated_at: number;
}

/** A browser that takes web push. */
export interface PushSubscriptionTable {
  id: string;
  user_id: string;
  name: string;
  endpoint: string;
  sealed_keys: string;
  created_at: number;
}

/** The key pair that identifies this installation to push services; one row with the id `vapid`. */
export interface PushKeyTable {
  id: string;
  public_key: string;
  sealed_private_key: string;
}

/** An address to which administrators have system events sent (contract §9). */
export interface EventWebhookTable {
  id: string;
  name: string;
  enabled: boolean;
  form: Form;
  events: Json<readonly string[]>;
  targets: Json<readonly WebhookTarget[]>;
  sealed_url: string;
  sealed_secret: string;
  created_at: number;
  updated_at: number;
}

export interface WebhookTarget {
  readonly type: "user" | "group";
  readonly id: string;
}

/** One event on its way to one address, and what became of it. */
export interface DeliveryTable {
  id: string;
  /** An event webhook, or `environment` for WEBHOOK_URL; null for a person's target. */
  webhook_id: string | null;
  target_id: string | null;
  event: string;
  envelope: Json<EventEnvelope>;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  /** Status of the last answer; null when none came. */
  last_status: number | null;
  last_error: string | null;
  created_at: number;
  updated_at: number;
}

export interface NotificationTables {
  notification: NotificationTable;
  notification_target: TargetTable;
  push_subscription: PushSubscriptionTable;
  push_key: PushKeyTable;
  event_webhook: EventWebhookTable;
  event_delivery: DeliveryTable;
}

export type NotificationRow = Selectable<NotificationTable>;
export type TargetRow = Selectable<TargetTable>;
export type PushSubscriptionRow = Selectable<PushSubscriptionTable>;
export type WebhookRow = Selectable<EventWebhookTable>;
export type DeliveryRow = Selectable<DeliveryTable>;

/** The plugin's database handle, or a transaction on it. */
export type NotificationDatabase = PluginDatabase<NotificationTables>;
