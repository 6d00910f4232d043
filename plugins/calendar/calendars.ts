import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { type GrantInput, newReaders } from "#storage/grants.ts";
import { toJson } from "#storage/values.ts";
import { type CalendarForm, mergeBag } from "./events/form.ts";
import { announce, type CalendarParts, resourceType } from "./parts.ts";
import { scheduledTasksId } from "./service.ts";
import { readableCalendars } from "./store.ts";
import type { CalendarDatabase, CalendarRow } from "./tables.ts";

export type CalendarActions = ReturnType<typeof createCalendarActions>;

/** The person's default calendar; made as Personal on first access (configuration document, Calendar). */
export async function ensureDefault(db: CalendarDatabase, userId: string): Promise<CalendarRow> {
  const find = () =>
    db
      .selectFrom("calendar")
      .selectAll()
      .where("user_id", "=", userId)
      .where("is_default", "=", true)
      .executeTakeFirst();
  const held = await find();
  if (held !== undefined) {
    return held;
  }
  const row = toRow(userId, { name: "Personal" });
  await db
    .insertInto("calendar")
    .values({ ...row, is_default: true })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const made = await find();
  if (made === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return made;
}

/** Actions on whole calendars (configuration document, Calendar; contract §9). */
export function createCalendarActions(parts: CalendarParts) {
  const { db, calendars, events, scheduled } = parts;

  return {
    /** One's own calendars, the default first, those of others, and Scheduled Tasks where some plugin runs work. */
    async list(caller: Principal) {
      await ensureDefault(db, caller.userId);
      const shown = await show(parts, caller, await readableCalendars(db, caller));
      const hasTasks = scheduled.list().some((source) => source.isOpen(caller));
      return hasTasks ? [...shown, toScheduledTasks(caller)] : shown;
    },

    async create(caller: Principal, form: CalendarForm & { name: string }) {
      const row = toRow(caller.userId, form);
      await db.insertInto("calendar").values(row).execute();
      announce(events, "calendar.created", { by: caller, id: row.id, data: { name: form.name } });
      if (form.access_grants) {
        const shared = await share(parts, caller, { id: row.id, wanted: form.access_grants });
        const data = { name: form.name, shared_with: shared };
        announce(events, "calendar.updated", { by: caller, id: row.id, data });
      }
      return await showOne(parts, caller, row.id);
    },

    get: (caller: Principal, id: string) => showOne(parts, caller, id),

    /** Changes what the form names. Throws `forbidden` where grants are sent by somebody else than the owner. */
    async update(caller: Principal, id: string, form: CalendarForm) {
      requireStored(id);
      const row = await calendars.load(caller, id, "write");
      if (form.access_grants && row.user_id !== caller.userId) {
        throw new AppError("forbidden", "Only the owner of a calendar may say who shares it.");
      }
      await db
        .updateTable("calendar")
        .set({
          name: form.name ?? row.name,
          color: form.color === undefined ? row.color : form.color,
          data: toJson(mergeBag(row.data, form.data)),
          meta: toJson(mergeBag(row.meta, form.meta)),
          updated_at: seconds(),
        })
        .where("id", "=", id)
        .execute();
      const shared = form.access_grants ? await share(parts, caller, { id, wanted: form.access_grants }) : [];
      const data = { name: form.name ?? row.name, shared_with: shared };
      announce(events, "calendar.updated", { by: caller, id, data });
      return await showOne(parts, caller, id);
    },

    ...createEndings(parts),
  };
}

function createEndings(parts: CalendarParts) {
  const { transaction, calendars, grants, events } = parts;
  return {
    /** Makes a calendar the one that new events go to. */
    async makeDefault(caller: Principal, id: string) {
      requireStored(id);
      const row = await calendars.load(caller, id, "read");
      if (row.user_id !== caller.userId) {
        throw new AppError("forbidden", "Only a calendar of one's own can be the default.");
      }
      await transaction(async (tx) => {
        await tx
          .updateTable("calendar")
          .set({ is_default: false })
          .where("user_id", "=", caller.userId)
          .execute();
        await tx.updateTable("calendar").set({ is_default: true }).where("id", "=", id).execute();
      });
      announce(events, "calendar.default_updated", { by: caller, id });
      return await showOne(parts, caller, id);
    },

    /** Deletes a calendar with events, attendees and grants. Throws `invalid` for the default and Scheduled Tasks. */
    async remove(caller: Principal, id: string): Promise<void> {
      requireStored(id);
      const row = await calendars.load(caller, id, "read");
      if (row.user_id !== caller.userId) {
        throw new AppError("forbidden", "Only the owner of a calendar may delete it.");
      }
      if (row.is_default) {
        throw new AppError(
          "invalid",
          "The default calendar cannot be deleted. Make another one the default first.",
        );
      }
      await transaction(async (tx) => {
        await tx.deleteFrom("calendar").where("id", "=", id).execute();
        await grants.forget(tx, resourceType, [id]);
      });
      announce(events, "calendar.deleted", { by: caller, id, data: { name: row.name } });
    },
  };
}

async function show(parts: CalendarParts, caller: Principal, rows: readonly CalendarRow[]) {
  const { grants, accounts } = parts;
  const ids = rows.map(({ id }) => id);
  const own = rows.filter(({ user_id }) => user_id === caller.userId).map(({ id }) => id);
  const [writable, held, owners] = await Promise.all([
    grants.allowed(caller, "write", resourceType, ids),
    grants.list(resourceType, own),
    accounts.summaries(rows.map(({ user_id }) => user_id)),
  ]);
  return rows.map((row) => {
    const isOwn = row.user_id === caller.userId;
    const granted = held.filter(({ resource_id }) => resource_id === row.id);
    return {
      ...row,
      // The default of somebody else is nothing to the caller.
      is_default: isOwn && row.is_default,
      is_system: false,
      write_access: isOwn || writable.has(row.id),
      user: owners.get(row.user_id) ?? null,
      ...(isOwn ? { access_grants: granted } : {}),
    };
  });
}

async function showOne(parts: CalendarParts, caller: Principal, id: string) {
  const row = await parts.calendars.load(caller, id, "read");
  return (await show(parts, caller, [row]))[0] as Awaited<ReturnType<typeof show>>[number];
}

/** Replaces the grants; resolves to the people who could not open the calendar before. */
async function share(
  parts: CalendarParts,
  caller: Principal,
  { id, wanted }: { id: string; wanted: readonly GrantInput[] },
): Promise<string[]> {
  const { grants, accounts, transaction } = parts;
  const held = await grants.list(resourceType, [id]);
  const allowed = await accounts.givenGrants(caller, {
    wanted,
    held,
    everybody: "sharing.public_calendars",
  });
  const given = await transaction((tx) => grants.replace(tx, resourceType, id, allowed));
  return newReaders(held, given);
}

/** Throws `invalid` for the calendar Scheduled Tasks, which is not stored. */
export function requireStored(id: string): void {
  if (id === scheduledTasksId) {
    throw new AppError(
      "invalid",
      "The calendar Scheduled Tasks belongs to the platform and cannot be changed.",
    );
  }
}

function toRow(userId: string, form: CalendarForm & { name: string }) {
  const now = seconds();
  return {
    id: randomUUID(),
    user_id: userId,
    name: form.name,
    color: form.color ?? null,
    is_default: false,
    data: toJson(mergeBag({}, form.data)),
    meta: toJson(mergeBag({}, form.meta)),
    created_at: now,
    updated_at: now,
  };
}

function toScheduledTasks(caller: Principal) {
  return {
    id: scheduledTasksId,
    user_id: caller.userId,
    name: "Scheduled Tasks",
    color: null,
    is_default: false,
    is_system: true,
    data: {},
    meta: {},
    write_access: false,
    user: null,
    created_at: 0,
    updated_at: 0,
  };
}
