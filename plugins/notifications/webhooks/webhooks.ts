import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { EventEnvelope } from "#kernel/event-envelope.ts";
import { createSigningSecret } from "#kernel/webhook-signature.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { Address } from "../deliveries/post.ts";
import { maskUrl, requireReachable, requireReplaced } from "../mask-url.ts";
import { type NotificationParts, toActor } from "../parts.ts";
import { limits, type NewWebhook, type Webhook, type WebhookEdit } from "../schema.ts";
import type { WebhookRow } from "../tables.ts";
import { matchesPattern } from "./event-names.ts";

export interface WebhookParts extends Pick<
  NotificationParts,
  "db" | "transaction" | "accounts" | "egress" | "events" | "seal"
> {
  /** Tells all replicas that what they know of the webhooks is out of date. */
  changed(): Promise<void>;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

const urlPlace = (id: string) => `event-webhook:${id}:url`;
const secretPlace = (id: string) => `event-webhook:${id}:secret`;

/** Event webhooks in the hands of administrators (contract §9). The address is sealed, and shown masked. */
export function createWebhooks(parts: WebhookParts) {
  const { db, seal } = parts;

  const require = async (id: string): Promise<WebhookRow> => {
    const row = await db.selectFrom("event_webhook").selectAll().where("id", "=", id).executeTakeFirst();
    if (row === undefined) {
      throw new AppError("not_found", "Webhook not found");
    }
    return row;
  };
  const urlOf = (row: WebhookRow) => String(seal.open(row.sealed_url, urlPlace(row.id)));
  const show = (row: WebhookRow, secret?: string): Webhook => ({
    id: row.id,
    name: row.name,
    url: maskUrl(urlOf(row)),
    enabled: row.enabled,
    form: row.form,
    events: [...row.events],
    targets: [...row.targets],
    ...(secret !== undefined && { secret }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  });
  const tell = async (by: Principal, row: Pick<WebhookRow, "id" | "name">, change: string) => {
    await parts.changed();
    parts.events.announce("config.webhook.updated", {
      actor: toActor(by),
      subject: { type: "event_webhook", id: row.id },
      data: { name: row.name, change },
    });
  };

  const shared: Shared = { ...parts, require, urlOf, show, tell };
  return { require, ...writingOf(shared), ...secretsOf(shared) };
}

interface Shared extends WebhookParts {
  require(id: string): Promise<WebhookRow>;
  urlOf(row: WebhookRow): string;
  show(row: WebhookRow, secret?: string): Webhook;
  tell(by: Principal, row: Pick<WebhookRow, "id" | "name">, change: string): Promise<void>;
}

function writingOf({ db, egress, seal, require, show, tell }: Shared) {
  return {
    async list(): Promise<Webhook[]> {
      const rows = await db
        .selectFrom("event_webhook")
        .selectAll()
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map((row) => show(row));
    },

    async create(caller: Principal, form: NewWebhook): Promise<Webhook> {
      const url = await requireReachable(egress, "url", form.url);
      const { count } = await db
        .selectFrom("event_webhook")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      if (Number(count) >= limits.webhooks) {
        throw new AppError(
          "invalid",
          `There are at most ${limits.webhooks} event webhooks. Delete one first.`,
        );
      }
      const id = randomUUID();
      const secret = createSigningSecret();
      const now = seconds();
      const row = await db
        .insertInto("event_webhook")
        .values({
          id,
          name: form.name,
          enabled: form.enabled,
          form: form.form,
          events: toJson(form.events),
          targets: toJson(form.targets),
          sealed_url: seal.seal(url, urlPlace(id)),
          sealed_secret: seal.seal(secret, secretPlace(id)),
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await tell(caller, row, "created");
      return show(row, secret);
    },

    /** Changes the fields that are given; an address as it was shown stays the stored one. */
    async update(caller: Principal, id: string, edit: WebhookEdit): Promise<Webhook> {
      const before = await require(id);
      const { name, enabled, form, events, targets } = edit;
      const url = await requireReplaced(egress, "url", edit.url);
      const row = await db
        .updateTable("event_webhook")
        .set({
          name: name ?? before.name,
          enabled: enabled ?? before.enabled,
          form: form ?? before.form,
          ...(events && { events: toJson(events) }),
          ...(targets && { targets: toJson(targets) }),
          ...(url !== undefined && { sealed_url: seal.seal(url, urlPlace(id)) }),
          updated_at: seconds(),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) {
        throw new AppError("not_found", "Webhook not found");
      }
      await tell(caller, row, "updated");
      return show(row);
    },
  };
}

function secretsOf({ db, seal, transaction, require, urlOf, show, tell }: Shared) {
  return {
    async renewSecret(caller: Principal, id: string): Promise<Webhook> {
      const row = await require(id);
      const secret = createSigningSecret();
      await db
        .updateTable("event_webhook")
        .set({ sealed_secret: seal.seal(secret, secretPlace(id)), updated_at: seconds() })
        .where("id", "=", id)
        .execute();
      await tell(caller, row, "secret renewed");
      return show(row, secret);
    },

    async remove(caller: Principal, id: string): Promise<true> {
      const row = await require(id);
      await transaction(async (tx) => {
        await tx.deleteFrom("event_delivery").where("webhook_id", "=", id).execute();
        await tx.deleteFrom("event_webhook").where("id", "=", id).execute();
      });
      await tell(caller, row, "deleted");
      return true;
    },

    /** The address of an enabled webhook; private ones are refused unless the environment allows their origin. */
    async addressOf(id: string): Promise<Address | string> {
      const row = await db.selectFrom("event_webhook").selectAll().where("id", "=", id).executeTakeFirst();
      if (row === undefined || !row.enabled) {
        return "The webhook is switched off or gone.";
      }
      const secret = String(seal.open(row.sealed_secret, secretPlace(id)));
      return { url: urlOf(row), form: row.form, trust: "user", secret };
    },
  };
}

/** The facts of a webhook that decide which events it hears. */
export type Listener = Pick<WebhookRow, "id" | "events" | "targets">;

/** True when a webhook wants an event: a pattern fits, and it concerns one of the targets where there are some. */
export async function wants(
  { events, targets }: Listener,
  event: EventEnvelope,
  accounts: Pick<NotificationParts["accounts"], "principalOf">,
): Promise<boolean> {
  if (!events.some((pattern) => matchesPattern(pattern, event.event))) {
    return false;
  }
  if (targets.length === 0) {
    return true;
  }
  const people = concerned(event);
  const subject = event.subject;
  for (const target of targets) {
    if (
      target.type === "user" ? people.has(target.id) : subject?.type === "group" && subject.id === target.id
    ) {
      return true;
    }
  }
  const groups = new Set(targets.flatMap(({ type, id }) => (type === "group" ? [id] : [])));
  for (const id of groups.size > 0 ? people : []) {
    const principal = await accounts.principalOf(id);
    if (principal?.groupIds.some((group) => groups.has(group))) {
      return true;
    }
  }
  return false;
}

/** The accounts that an event is by or about. */
function concerned({ actor, subject, data }: EventEnvelope): Set<string> {
  const named = (data as { user_id?: unknown } | null)?.user_id;
  return new Set([
    ...(actor ? [actor.id] : []),
    ...(subject?.type === "user" ? [subject.id] : []),
    ...(typeof named === "string" ? [named] : []),
  ]);
}
