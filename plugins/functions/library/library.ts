import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { FunctionFacts } from "../calls/facts.ts";
import type { FunctionChanges } from "./changes.ts";
import {
  deleteFunction,
  findFunction,
  type FunctionRow,
  insertFunction,
  listFunctions,
  switchOff,
  updateCode,
  updateFields,
} from "./function-store.ts";
import { isOwnFault, loadFacts, toScript } from "../calls/load.ts";
import { toMeta, toRecord } from "./record.ts";
import type { FunctionForm, FunctionUpdate } from "../schema.ts";
import type { FunctionsDatabase, FunctionsTransaction } from "../tables.ts";

export interface LibraryParts {
  readonly db: FunctionsDatabase;
  readonly transaction: FunctionsTransaction;
  readonly sandbox: Sandbox;
  readonly changes: FunctionChanges;
  /** Takes people's own valves of a function away. */
  dropUserValves(id: string): Promise<void>;
}

/** The functions as administrators manage them (contract 4.1). */
export type Library = ReturnType<typeof createLibrary>;

/** Creates the logic behind `/functions`; the routes have checked that the caller is an administrator. */
export function createLibrary({ db, transaction, sandbox, changes, dropUserValves }: LibraryParts) {
  /** Stores code that was loaded. Code that does not load switches the stored function off and is refused. */
  async function store(caller: Principal, row: FunctionRow, form: FunctionUpdate): Promise<FunctionRow> {
    const facts = await loadFacts(sandbox, toScript({ ...row, content: form.content })).catch(
      async (error: unknown) => {
        if (error instanceof AppError && isOwnFault(error)) {
          const reason = toReason(error);
          if (await switchOff(db, row, reason)) {
            await changes.changed(row.id);
            changes.announce("disabled", caller, { ...row, error: reason });
          }
        }
        throw error;
      },
    );
    const fields = toCode(form, facts, row);
    const stored = requireFunction(
      await transaction((tx) => updateCode(tx, row.id, { fields, author: caller.userId })),
    );
    await changes.changed(row.id, { code: true });
    changes.announce("updated", caller, stored);
    if (row.is_active && !stored.is_active) {
      changes.announce("disabled", caller, stored);
    }
    return stored;
  }

  const find = async (id: string) => requireFunction(await findFunction(db, id));

  return {
    list: async () => (await listFunctions(db)).map(toRecord),
    find,
    async create(caller: Principal, form: FunctionForm) {
      const id = toFunctionName(form.id);
      if ((await findFunction(db, id)) !== undefined) {
        throw taken(id);
      }
      const facts = await loadFacts(sandbox, toScript({ id, user_id: caller.userId, content: form.content }));
      const fields = { ...toCode(form, facts), id, user_id: caller.userId };
      const row = await transaction((tx) => insertFunction(tx, fields));
      if (row === undefined) {
        throw taken(id);
      }
      changes.announce("created", caller, row);
      return row;
    },
    update: async (caller: Principal, id: string, form: FunctionUpdate) =>
      await store(caller, await find(id), form),
    /** Stores an earlier code again, under the present name. */
    async restore(caller: Principal, id: string, content: string) {
      const row = await find(id);
      return await store(caller, row, { name: row.name, content });
    },
    async toggle(caller: Principal, id: string) {
      const row = await find(id);
      if (!row.is_active) {
        await loadFacts(sandbox, toScript(row));
      }
      changes.announce(row.is_active ? "disable_started" : "enable_started", caller, row);
      const next = requireFunction(await updateFields(db, id, { is_active: !row.is_active, error: null }));
      await changes.changed(id);
      changes.announce(next.is_active ? "enabled" : "disabled", caller, next);
      return next;
    },
    async toggleGlobal(caller: Principal, id: string) {
      const row = await find(id);
      const next = requireFunction(await updateFields(db, id, { is_global: !row.is_global }));
      await changes.changed(id);
      changes.announce("updated", caller, next);
      return next;
    },
    async remove(caller: Principal, id: string) {
      const row = await find(id);
      await deleteFunction(db, id);
      await dropUserValves(id);
      await changes.changed(id, { code: true });
      changes.announce("deleted", caller, row);
      return true;
    },
  };
}

/** The id a function is stored under. Throws AppError `invalid` when it is no identifier. */
export function toFunctionName(id: string): string {
  const name = id.trim().toLowerCase();
  if (!/^[a-z_][a-z0-9_]{0,255}$/.test(name)) {
    throw new AppError(
      "invalid",
      "The id of a function has 1 to 256 letters, digits and underscores, and does not begin with a digit.",
    );
  }
  return name;
}

/** The columns that follow from code and form. */
export function toCode(form: FunctionUpdate, facts: FunctionFacts, stored?: FunctionRow) {
  const { name, content } = form;
  return { name, type: facts.type, content, meta: toMeta(form.meta, facts, stored?.meta) };
}

function requireFunction(row: FunctionRow | undefined): FunctionRow {
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

function taken(id: string): AppError {
  return new AppError("conflict", `There is a function with the id "${id}" already.`);
}

function toReason(error: AppError): string {
  return `Switched off because the last change could not be loaded: ${error.message}`;
}
