import { z } from "zod";
import { findPatternProblem } from "./webhooks/event-names.ts";
import { forms, phraseKinds } from "./tables.ts";

export const limits = {
  webhooks: 50,
  targets: 10,
  subscriptions: 20,
  name: 200,
  url: 2_000,
  patterns: 200,
  page: 50,
  deliveries: 100,
} as const;

/** Stands for the address of WEBHOOK_URL where an event webhook has its id. */
export const environmentWebhook = "environment";

const Id = z.string().min(1).max(100);
export const ById = z.object({ id: Id });
export const ByDelivery = z.object({ id: Id, delivery_id: Id });

/** Events that people may have sent to addresses of their own (contract §9). */
export const targetEvents = ["chat.finished", "chat.failed", "channel.message", "calendar.alert"] as const;
export type TargetEvent = (typeof targetEvents)[number];
const TargetEventName = z.enum(targetEvents);

const Phrase = z
  .object({
    kind: z.enum(phraseKinds),
    values: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: "NotificationPhrase" });

export const Notification = z
  .object({
    id: z.string(),
    event: z.string(),
    /** In English where the words are the platform's own; `phrase` has them for other languages. */
    title: z.string(),
    body: z.string(),
    phrase: Phrase.nullable(),
    path: z.string().nullable(),
    read_at: z.number().nullable(),
    created_at: z.number(),
  })
  .meta({ id: "Notification" });
export type Notification = z.output<typeof Notification>;

export const NotificationPage = z
  .object({ items: z.array(Notification), unread: z.int(), has_more: z.boolean() })
  .meta({ id: "NotificationPage" });

export const NotificationQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000).default(1),
  unread: z.stringbool().default(false),
});
export const ReadMark = z.object({ ids: z.array(Id).min(1).max(limits.page).optional() });
export const Unread = z.object({ unread: z.int() });

const Url = z.string().trim().min(1).max(limits.url);

export const Target = z
  .object({
    id: z.string(),
    type: z.literal("webhook"),
    enabled: z.boolean(),
    events: z.array(TargetEventName),
    delivery: z.enum(["away", "always"]),
    config: z.object({ url_masked: z.string() }),
    is_default: z.boolean(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "NotificationTarget" });
export type Target = z.output<typeof Target>;

export const NewTarget = z
  .object({
    type: z.literal("webhook").default("webhook"),
    enabled: z.boolean().default(true),
    events: z
      .array(TargetEventName)
      .max(targetEvents.length)
      .default([...targetEvents]),
    delivery: z.enum(["away", "always"]).default("away"),
    config: z.object({ url: Url }),
  })
  .meta({ id: "NewNotificationTarget" });
export type NewTarget = z.output<typeof NewTarget>;

export const TargetEdit = z
  .object({
    enabled: z.boolean().optional(),
    events: z.array(TargetEventName).max(targetEvents.length).optional(),
    delivery: z.enum(["away", "always"]).optional(),
    /** Left out, or masked as it was shown, the address stays. */
    config: z.object({ url: Url.optional() }).optional(),
  })
  .meta({ id: "NotificationTargetEdit" });
export type TargetEdit = z.output<typeof TargetEdit>;

export const TargetEvents = z
  .object({ events: z.array(TargetEventName) })
  .meta({ id: "NotificationTargetEvents" });

/** The outcome of a test post; `status` is null when no answer came. */
export const TestResult = z
  .object({ success: z.boolean(), status: z.number().nullable(), error: z.string().nullable() })
  .meta({ id: "NotificationTestResult" });
export type TestResult = z.output<typeof TestResult>;

const Pattern = z
  .string()
  .max(100)
  .superRefine((pattern, context) => {
    const problem = findPatternProblem(pattern);
    if (problem !== undefined) {
      context.addIssue({ code: "custom", message: problem });
    }
  });
const Party = z.object({ type: z.enum(["user", "group"]), id: Id });

export const Webhook = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Masked. */
    url: z.string(),
    enabled: z.boolean(),
    form: z.enum(forms),
    events: z.array(z.string()),
    targets: z.array(Party),
    /** Signing secret; shown once, when it was made. */
    secret: z.string().optional(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "EventWebhook" });
export type Webhook = z.output<typeof Webhook>;

export const NewWebhook = z
  .object({
    name: z.string().trim().min(1).max(limits.name),
    url: Url,
    enabled: z.boolean().default(true),
    form: z.enum(forms).default("auto"),
    /** Names of events, beginnings with `.*`, or `*`. */
    events: z.array(Pattern).min(1).max(limits.patterns),
    /** Only events of these people and members of groups; everybody's when empty. */
    targets: z.array(Party).max(limits.patterns).default([]),
  })
  .meta({ id: "NewEventWebhook" });
export type NewWebhook = z.output<typeof NewWebhook>;

export const WebhookEdit = z
  .object({
    name: NewWebhook.shape.name.optional(),
    url: Url.optional(),
    enabled: z.boolean().optional(),
    form: z.enum(forms).optional(),
    events: z.array(Pattern).min(1).max(limits.patterns).optional(),
    targets: z.array(Party).max(limits.patterns).optional(),
  })
  .meta({ id: "EventWebhookEdit" });
export type WebhookEdit = z.output<typeof WebhookEdit>;

export const Delivery = z
  .object({
    id: z.string(),
    event: z.string(),
    message: z.string(),
    status: z.enum(["pending", "delivered", "failed"]),
    attempts: z.int(),
    last_status: z.number().nullable(),
    last_error: z.string().nullable(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "EventDelivery" });

export const Catalogue = z
  .array(z.object({ event: z.string(), resource: z.string(), operation: z.string() }))
  .meta({ id: "EventCatalogue" });

export const PushSubscription = z
  .object({ id: z.string(), name: z.string(), endpoint: z.string(), created_at: z.number() })
  .meta({ id: "PushSubscription" });
export const PushState = z
  .object({
    /** VAPID key of this installation, base64url. */
    public_key: z.string(),
    subscriptions: z.array(PushSubscription),
  })
  .meta({ id: "PushState" });

const Key = (bytes: number) =>
  z
    .string()
    .max(200)
    .regex(/^[\w-]+=*$/)
    .refine((text) => Buffer.from(text, "base64url").length === bytes, {
      error: `must be ${bytes} bytes in base64url.`,
    });

/** The shape of a browser's `PushSubscription.toJSON()`. */
export const NewPushSubscription = z
  .object({
    name: z.string().trim().max(limits.name).default(""),
    endpoint: Url,
    keys: z.object({ p256dh: Key(65), auth: Key(16) }),
  })
  .meta({ id: "NewPushSubscription" });
export type NewPushSubscription = z.output<typeof NewPushSubscription>;
