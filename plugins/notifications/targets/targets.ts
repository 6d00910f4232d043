import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { hasPermission } from "#kernel/access/permissions.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { type EventEnvelope, toEnvelope } from "#kernel/event-envelope.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import { type Address, type Outcome, post } from "../deliveries/post.ts";
import { maskUrl, requireReachable, requireReplaced } from "../mask-url.ts";
import { type NotificationParts, toActor } from "../parts.ts";
import {
  limits,
  type NewTarget,
  type Target,
  type TargetEdit,
  type TargetEvent,
  targetEvents,
  type TestResult,
} from "../schema.ts";
import type { TargetRow } from "../tables.ts";

const permission = "features.webhooks";
const urlPlace = (id: string) => `notification-target:${id}:url`;

export interface TargetParts extends Pick<
  NotificationParts,
  "db" | "transaction" | "access" | "accounts" | "configuration" | "deployment" | "egress" | "events" | "seal"
> {
  readonly deliveries: Pick<Deliveries, "queue">;
}

/** The message of a model; without a `target` it goes to the default one. */
export interface Words {
  readonly message: string;
  readonly target?: string | undefined;
  readonly title?: string | undefined;
}

interface Shared extends TargetParts {
  readonly targets: Loader<TargetRow>;
  urlOf(row: TargetRow): string;
  show(row: TargetRow): Target;
  /** Throws `not_found` while the switch is off, `forbidden` without the permission (contract §9). */
  requireOpen(caller: Principal): void;
}

export type Targets = ReturnType<typeof createTargets>;

/** Addresses to which people have their own notifications sent (contract §9). */
export function createTargets(parts: TargetParts) {
  const { db, seal, configuration } = parts;
  const isOn = () => configuration.valueOf("ENABLE_USER_WEBHOOKS") === true;
  const urlOf = (row: TargetRow) => String(seal.open(row.sealed_url, urlPlace(row.id)));
  const shared: Shared = {
    ...parts,
    targets: parts.access.loader<TargetRow>({
      type: "notification_target",
      find: (id) => db.selectFrom("notification_target").selectAll().where("id", "=", id).executeTakeFirst(),
      ownerOf: (row) => row.user_id,
      adminPasses: false,
    }),
    urlOf,
    show: (row) => ({
      id: row.id,
      type: row.type,
      enabled: row.enabled,
      events: targetEvents.filter((event) => row.events.includes(event)),
      delivery: row.delivery,
      config: { url_masked: maskUrl(urlOf(row)) },
      is_default: row.is_default,
      created_at: row.created_at,
      updated_at: row.updated_at,
    }),
    requireOpen(caller) {
      if (!isOn()) {
        throw new AppError("not_found", "Not found");
      }
      if (!hasPermission(caller, permission)) {
        throw new AppError("forbidden", `Needs the permission ${permission}.`);
      }
    },
  };
  const isOpen = (person: Principal) => isOn() && isMember(person) && hasPermission(person, permission);
  return {
    isOn,
    isOpen,
    ...actionsOf(shared),
    ...changesOf(shared),
    ...deliveringOf(shared, isOpen),
    ...sendingOf(shared),
  };
}

function actionsOf({ db, egress, seal, requireOpen, show }: Shared) {
  const listRows = (userId: string) =>
    db
      .selectFrom("notification_target")
      .selectAll()
      .where("user_id", "=", userId)
      .orderBy("created_at")
      .orderBy("id")
      .execute();
  return {
    events(caller: Principal) {
      requireOpen(caller);
      return { events: [...targetEvents] };
    },

    async list(caller: Principal): Promise<Target[]> {
      requireOpen(caller);
      return (await listRows(caller.userId)).map(show);
    },

    /** The first target of a person is the default one. */
    async create(caller: Principal, form: NewTarget): Promise<Target> {
      requireOpen(caller);
      const url = await requireReachable(egress, "config.url", form.config.url);
      const others = await listRows(caller.userId);
      if (others.length >= limits.targets) {
        throw new AppError(
          "invalid",
          `You have ${limits.targets} targets, the most there may be. Delete one first.`,
        );
      }
      const id = randomUUID();
      const now = seconds();
      const row = await db
        .insertInto("notification_target")
        .values({
          id,
          user_id: caller.userId,
          type: form.type,
          enabled: form.enabled,
          events: toJson(form.events),
          delivery: form.delivery,
          is_default: others.length === 0,
          sealed_url: seal.seal(url, urlPlace(id)),
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return show(row);
    },
  };
}

function changesOf({ db, egress, transaction, seal, targets, requireOpen, show }: Shared) {
  return {
    async update(caller: Principal, id: string, edit: TargetEdit): Promise<Target> {
      requireOpen(caller);
      const before = await targets.load(caller, id, "write");
      const given = edit.config?.url;
      const url = await requireReplaced(egress, "config.url", given);
      const row = await db
        .updateTable("notification_target")
        .set({
          enabled: edit.enabled ?? before.enabled,
          delivery: edit.delivery ?? before.delivery,
          ...(edit.events && { events: toJson(edit.events) }),
          ...(url !== undefined && { sealed_url: seal.seal(url, urlPlace(id)) }),
          updated_at: seconds(),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) {
        throw new AppError("not_found", "Not found");
      }
      return show(row);
    },

    /** The default target is the one that the tool `notify` uses when it names none. */
    async makeDefault(caller: Principal, id: string): Promise<Target> {
      requireOpen(caller);
      await targets.load(caller, id, "write");
      await transaction(async (tx) => {
        await tx
          .updateTable("notification_target")
          .set({ is_default: sql<boolean>`id = ${id}` })
          .where("user_id", "=", caller.userId)
          .execute();
      });
      return show(await targets.load(caller, id, "read"));
    },

    async remove(caller: Principal, id: string): Promise<true> {
      requireOpen(caller);
      await targets.load(caller, id, "write");
      await db.deleteFrom("notification_target").where("id", "=", id).execute();
      return true;
    },
  };
}

function sendingOf(shared: Shared) {
  const { db, deployment, egress, events, targets, requireOpen, urlOf } = shared;
  const send = async (row: TargetRow, envelope: EventEnvelope, signal: AbortSignal) =>
    await post(egress, toAddress(urlOf(row)), { id: envelope.id, envelope, signal });
  const toOwnEnvelope = (
    caller: Principal,
    row: TargetRow,
    told: { event: "manual" | "test"; message: string; title?: string },
  ) => {
    const { event, message, title } = told;
    const announced: SystemEvent = events.announce(`notification.${event}`, {
      actor: toActor(caller),
      subject: { type: "notification_target", id: row.id },
      data: { user_id: caller.userId, message, ...(title !== undefined && { title }) },
    });
    return { ...toEnvelope(announced, deployment), message: title ? `${title}: ${message}` : message };
  };
  return {
    /** Posts a test at once. Throws `not_found` for a target of somebody else. */
    async test(caller: Principal, id: string, signal: AbortSignal): Promise<TestResult> {
      requireOpen(caller);
      const row = await targets.load(caller, id, "read");
      const message = `A test of notifications from ${deployment.name}.`;
      return toTestResult(await send(row, toOwnEnvelope(caller, row, { event: "test", message }), signal));
    },

    /** Posts words of a model to one of the person's targets, the default one without a name. */
    async notify(
      caller: Principal,
      { message, target, title }: Words,
      signal: AbortSignal,
    ): Promise<TestResult> {
      requireOpen(caller);
      const row =
        target === undefined
          ? await db
              .selectFrom("notification_target")
              .selectAll()
              .where("user_id", "=", caller.userId)
              .where("is_default", "=", true)
              .executeTakeFirst()
          : await targets.load(caller, target, "read");
      if (row === undefined) {
        throw new AppError(
          "invalid",
          "There is no default target. The person adds one in Settings › Notifications.",
        );
      }
      const told = { event: "manual" as const, message, ...(title !== undefined && { title }) };
      return toTestResult(await send(row, toOwnEnvelope(caller, row, told), signal));
    },
  };
}

function deliveringOf(shared: Shared, isOpen: (person: Principal) => boolean) {
  const { db, accounts, urlOf } = shared;
  return {
    /** Queues an event for the targets of a person that want it now. */
    async deliver(
      person: Principal,
      event: TargetEvent,
      { envelope, isAway }: { envelope: EventEnvelope; isAway: boolean },
    ) {
      if (!isOpen(person)) {
        return;
      }
      const rows = await db
        .selectFrom("notification_target")
        .selectAll()
        .where("user_id", "=", person.userId)
        .where("enabled", "=", true)
        .execute();
      for (const row of rows) {
        if (row.events.includes(event) && (isAway || row.delivery === "always")) {
          await shared.deliveries.queue({ targetId: row.id }, envelope);
        }
      }
    },

    /** The address of an enabled target whose owner may still have one. */
    async addressOf(id: string): Promise<Address | string> {
      const row = await db
        .selectFrom("notification_target")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      const owner = row && (await accounts.principalOf(row.user_id));
      return row?.enabled && owner && isOpen(owner)
        ? toAddress(urlOf(row))
        : "The target is switched off, or its owner may have none any more.";
    },
  };
}

const toAddress = (url: string): Address => ({ url, form: "auto", trust: "user" });

export const toTestResult = (outcome: Outcome): TestResult => ({
  success: outcome.kind === "delivered",
  status: outcome.status,
  error: outcome.kind === "refused" ? outcome.error : null,
});
