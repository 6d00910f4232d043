import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { granted, type GrantInput } from "#storage/grants.ts";
import { toCodeId } from "#plugins/functions/service.ts";
import { resourceType, type ToolParts } from "../parts.ts";
import type { ToolForm, ToolUpdate } from "../schema.ts";
import { toEntry, toFull, toItem, type View } from "./record.ts";
import { createSaving } from "./saving.ts";
import { findTool, insertTool, selectTools, type ToolRow } from "./tool-store.ts";
import { showTool, viewsOf } from "./views.ts";

/** The tools as their authors, editors and readers manage them (contract 4.3). */
export type Library = ReturnType<typeof createLibrary>;

/** Creates the logic behind `/tools`. */
export function createLibrary(parts: ToolParts) {
  const { db, transaction, tools, grants, accounts } = parts;
  const { announce, toFields, store, share } = createSaving(parts);
  const show = (caller: Principal, row: ToolRow) => showTool(parts, caller, row);
  const readable = (caller: Principal, permission: "read" | "write") =>
    selectTools(db).$if(!parts.access.passes(caller), (query) =>
      query.where((eb) =>
        eb.or([eb("user_id", "=", caller.userId), granted(eb, resourceType, "tool.id", caller, permission)]),
      ),
    );

  return {
    /** Those that the caller may use. */
    async list(caller: Principal) {
      const rows = await readable(caller, "read").execute();
      const seen = await viewsOf(parts, caller, rows);
      return rows.map((row) => toItem(row, seen.get(row.id) as View));
    },
    /** Those that the caller may change, with their code. */
    async export(caller: Principal) {
      const ids = (await readable(caller, "write").execute()).map(({ id }) => id);
      const rows = (await Promise.all(ids.map((id) => findTool(db, id)))).filter((row) => row !== undefined);
      const seen = await viewsOf(parts, caller, rows);
      return rows.map((row) => toFull(row, seen.get(row.id) as View));
    },
    get: async (caller: Principal, id: string) => show(caller, await tools.load(caller, id, "read")),
    async create(caller: Principal, form: ToolForm) {
      const id = toCodeId(form.id, "tool");
      if ((await findTool(db, id)) !== undefined) {
        throw taken(id);
      }
      const fields = await toFields(caller, form, { id, userId: caller.userId, stored: undefined });
      const given = await accounts.givenGrants(caller, {
        wanted: form.access_grants ?? [],
        held: [],
        everybody: "sharing.public_tools",
      });
      const row = await transaction(async (tx) => {
        const after = await insertTool(tx, { ...fields, id, user_id: caller.userId });
        if (after === undefined) {
          throw taken(id);
        }
        await grants.replace(tx, resourceType, id, given);
        await parts.record(toEntry("created", { after, grants: given }), tx);
        return after;
      });
      announce("created", caller, row);
      return await show(caller, row);
    },
    async update(caller: Principal, id: string, form: ToolUpdate) {
      const row = await store(caller, await tools.load(caller, id, "write"), form);
      return await (form.access_grants ? share(caller, row, form.access_grants) : show(caller, row));
    },
    /** Stores an earlier code again, under the present name. */
    async restore(caller: Principal, id: string, content: string) {
      const row = await tools.load(caller, id, "write");
      return await show(caller, await store(caller, row, { name: row.name, content }));
    },
    share: async (caller: Principal, id: string, wanted: readonly GrantInput[]) =>
      await share(caller, await tools.load(caller, id, "write"), wanted),
    async remove(caller: Principal, id: string): Promise<true> {
      const row = await tools.load(caller, id, "write");
      await transaction(async (tx) => {
        await tx.deleteFrom("tool").where("id", "=", id).execute();
        await grants.forget(tx, resourceType, [id]);
        await parts.record(toEntry("deleted", { before: row }), tx);
      });
      await parts.dropUserValves(id);
      parts.forget(id);
      announce("deleted", caller, row);
      return true;
    },
    show,
  };
}

function taken(id: string): AppError {
  return new AppError("conflict", `There is a tool with the id "${id}" already.`);
}
