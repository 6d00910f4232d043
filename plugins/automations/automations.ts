import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toContains, toJson } from "#storage/values.ts";
import { requireRoom, requireSchedule } from "./limits.ts";
import { announce, type AutomationParts } from "./parts.ts";
import { requirePlaces } from "./places.ts";
import { nextRuns } from "./recurrence/next-runs.ts";
import { shownRuns, toRecords, toRun, toSchedule } from "./record.ts";
import type { AutomationForm, AutomationRecord, AutomationUpdate, ListQuery } from "./schema.ts";
import type { AutomationData, AutomationRow } from "./tables.ts";

export type Automations = ReturnType<typeof createAutomationActions>;

const pageSize = 30;

/** Actions of owners on their automations; to everybody else, administrators too, these are unknown (contract 9). */
export const createAutomationActions = (
  parts: AutomationParts,
  queueRun: (row: AutomationRow) => Promise<void>,
) => ({ ...reading(parts), ...changing(parts, queueRun) });

const show = async ({ db }: AutomationParts, row: AutomationRow): Promise<AutomationRecord> =>
  (await toRecords(db, [row], seconds()))[0] as AutomationRecord;

function reading(parts: AutomationParts) {
  const { db, loader } = parts;
  return {
    async page(caller: Principal, { query, status, folder_id: folder, page }: ListQuery) {
      const pattern = query ? toContains(query) : undefined;
      const found = db
        .selectFrom("automation")
        .where("user_id", "=", caller.userId)
        .$if(status !== undefined, (of) => of.where("is_active", "=", status === "active"))
        .$if(folder !== undefined, (of) => of.where("folder_id", "=", folder as string))
        .$if(pattern !== undefined, (of) =>
          of.where((eb) =>
            eb.or([
              eb("name", "ilike", pattern as string),
              eb(sql`data->>'prompt'`, "ilike", pattern as string),
            ]),
          ),
        );
      const rows = await found
        .selectAll()
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(pageSize)
        .offset((page - 1) * pageSize)
        .execute();
      const { total } = await found.select(db.fn.countAll<string>().as("total")).executeTakeFirstOrThrow();
      return { items: await toRecords(db, rows, seconds()), total: Number(total) };
    },

    get: async (caller: Principal, id: string) => await show(parts, await loader.load(caller, id, "read")),

    /** Refuses what storing the rule would refuse, limits of the caller included. */
    async nextRuns(caller: Principal, rule: string) {
      const now = seconds();
      const { timeZone } = await parts.accounts.templateFacts(caller);
      const schedule = { rule, anchor: now, zone: timeZone };
      requireSchedule(schedule, { caller, now, settings: parts.settings() });
      return { next_runs: nextRuns(schedule, now, shownRuns), time_zone: timeZone };
    },

    async runs(caller: Principal, id: string, { skip, limit }: { skip: number; limit: number }) {
      await loader.load(caller, id, "read");
      const rows = await db
        .selectFrom("automation_run")
        .selectAll()
        .where("automation_id", "=", id)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .offset(skip)
        .limit(limit)
        .execute();
      return rows.map(toRun);
    },
  };
}

function changing(parts: AutomationParts, queueRun: (row: AutomationRow) => Promise<void>) {
  const { db, loader } = parts;
  return {
    async create(caller: Principal, form: AutomationForm) {
      await requirePlaces(caller, form, parts);
      const now = seconds();
      const planned = await plan(parts, caller, { data: form.data, anchor_at: now });
      const row = await insert(parts, { caller, form, now, planned });
      announce(parts, "created", { by: caller, row });
      return await show(parts, row);
    },

    async update(caller: Principal, id: string, form: AutomationUpdate) {
      const row = await loader.load(caller, id, "write");
      const data = { ...row.data, ...form.data } as AutomationData;
      await requirePlaces(caller, { folder_id: form.folder_id, data: form.data && data }, parts);
      const isActive = form.is_active ?? row.is_active;
      const isNewRule = data.rrule !== row.data.rrule;
      const anchor = isNewRule ? seconds() : row.anchor_at;
      const isPlanned = isNewRule || (isActive && !row.is_active);
      return await store(
        parts,
        { caller, row },
        {
          ...(form.name !== undefined && { name: form.name }),
          ...(form.folder_id !== undefined && { folder_id: form.folder_id }),
          ...(form.meta !== undefined && { meta: form.meta }),
          data,
          is_active: isActive,
          anchor_at: anchor,
          ...(isPlanned && (await plan(parts, caller, { data, anchor_at: anchor }))),
        },
      );
    },

    async toggle(caller: Principal, id: string) {
      const row = await loader.load(caller, id, "write");
      const planned = row.is_active ? {} : await plan(parts, caller, row);
      return await store(parts, { caller, row }, { is_active: !row.is_active, ...planned });
    },

    async runNow(caller: Principal, id: string) {
      const row = await loader.load(caller, id, "write");
      await queueRun(row);
      return await show(parts, { ...row, last_run_at: seconds() });
    },

    async remove(caller: Principal, id: string): Promise<true> {
      const row = await loader.load(caller, id, "write");
      await db.deleteFrom("automation").where("id", "=", id).execute();
      announce(parts, "deleted", { by: caller, row });
      return true;
    },
  };
}

/** The count is taken under a lock: two requests at once must not both be the last that fits. */
async function insert(
  parts: AutomationParts,
  about: {
    caller: Principal;
    form: AutomationForm;
    now: number;
    planned: Pick<AutomationRow, "time_zone" | "next_run_at">;
  },
): Promise<AutomationRow> {
  const { caller, form, now, planned } = about;
  return await parts.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext(${`automation:${caller.userId}`}))`.execute(tx);
    const { count } = await tx
      .selectFrom("automation")
      .select(tx.fn.countAll<string>().as("count"))
      .where("user_id", "=", caller.userId)
      .executeTakeFirstOrThrow();
    requireRoom(caller, Number(count), parts);
    return await tx
      .insertInto("automation")
      .values({
        ...planned,
        id: randomUUID(),
        user_id: caller.userId,
        folder_id: form.folder_id ?? null,
        name: form.name,
        data: toJson(form.data),
        meta: form.meta ? toJson(form.meta) : null,
        is_active: form.is_active,
        anchor_at: now,
        last_run_at: null,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

async function store(
  parts: AutomationParts,
  { caller, row }: { caller: Principal; row: AutomationRow },
  change: Partial<AutomationRow>,
) {
  const { data, meta, ...columns } = change;
  const stored = await parts.db
    .updateTable("automation")
    .set({
      ...columns,
      ...(data !== undefined && { data: toJson(data) }),
      ...(meta !== undefined && { meta: meta === null ? null : toJson(meta) }),
      updated_at: seconds(),
    })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirst();
  if (stored === undefined) {
    throw new AppError("not_found", "Not found");
  }
  const switched = stored.is_active === row.is_active ? "updated" : stored.is_active ? "enabled" : "disabled";
  announce(parts, switched, { by: caller, row: stored });
  return await show(parts, stored);
}

/** A paused rule is not asked when it runs: it is asked again when it is resumed. */
async function plan(
  parts: AutomationParts,
  caller: Principal,
  row: Pick<AutomationRow, "data" | "anchor_at">,
) {
  const { timeZone } = await parts.accounts.templateFacts(caller);
  const schedule = toSchedule({ ...row, time_zone: timeZone });
  const next = requireSchedule(schedule, { caller, now: seconds(), settings: parts.settings() });
  return { time_zone: timeZone, next_run_at: next };
}
