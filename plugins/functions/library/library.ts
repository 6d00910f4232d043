import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { FunctionFacts } from "../calls/facts.ts";
import type { FunctionChanges } from "./changes.ts";
import {
  deleteFunction,
  findFunction,
  requireFunction,
  type FunctionRow,
  insertFunction,
  listFunctions,
  updateCode,
} from "./function-store.ts";
import { isAdmin } from "./approval.ts";
import { type RecordEntry, toEntry } from "./record-change.ts";
import { createSwitches } from "./switches.ts";
import { loadFacts, toScript } from "../calls/load.ts";
import { toMeta, toRecord } from "./record.ts";
import type { FunctionForm, FunctionUpdate } from "../schema.ts";
import type { FunctionsDatabase, FunctionsTransaction } from "../tables.ts";
import type { Loader } from "#kernel/access/resource.ts";

export interface LibraryParts {
  readonly db: FunctionsDatabase;
  readonly transaction: FunctionsTransaction;
  readonly sandbox: Sandbox;
  readonly changes: FunctionChanges;
  readonly functions: Loader<FunctionRow>;
  readonly record: RecordEntry;
  /** Takes people's own valves of a function away. */
  dropUserValves(id: string): Promise<void>;
}

/** The functions as administrators and their authors manage them (contract 4.1, D.40). */
export type Library = ReturnType<typeof createLibrary>;

/** Creates the logic behind `/functions`; the routes have checked that the caller may write functions. */
export function createLibrary({
  db,
  transaction,
  sandbox,
  changes,
  functions,
  record,
  dropUserValves,
}: LibraryParts) {
  /** Stores code that was loaded. Code that does not load is refused and changes nothing (contract D.39). */
  async function store(caller: Principal, row: FunctionRow, form: FunctionUpdate): Promise<FunctionRow> {
    const facts = await loadFacts(sandbox, toScript({ ...row, content: form.content }));
    const fields = toCode(form, facts, row);
    const stored = requireFunction(
      await transaction(async (tx) => {
        const after = await updateCode(tx, row.id, {
          fields,
          author: caller.userId,
          changed: form.version_id,
        });
        await record(toEntry("updated", { before: row, after }), tx);
        return after;
      }),
    );
    await changes.changed(row.id, { code: true });
    changes.announce("updated", caller, stored);
    if (row.is_active && !stored.is_active) {
      changes.announce("disabled", caller, stored);
    }
    return stored;
  }

  const find = async (caller: Principal, id: string) => await functions.load(caller, id, "write");

  return {
    list: async () => (await listFunctions(db)).map(toRecord),
    /** Those that the caller may change. */
    listOwn: async (caller: Principal) =>
      (await listFunctions(db))
        .filter((row) => isAdmin(caller) || row.user_id === caller.userId)
        .map(toRecord),
    find,
    async create(caller: Principal, form: FunctionForm) {
      const id = toFunctionName(form.id);
      if ((await findFunction(db, id)) !== undefined) {
        throw taken(id);
      }
      const facts = await loadFacts(sandbox, toScript({ id, user_id: caller.userId, content: form.content }));
      const fields = { ...toCode(form, facts), id, user_id: caller.userId };
      const row = await transaction(async (tx) => {
        const after = await insertFunction(tx, fields);
        if (after !== undefined) {
          await record(toEntry("created", { after }), tx);
        }
        return after;
      });
      if (row === undefined) {
        throw taken(id);
      }
      changes.announce("created", caller, row);
      return row;
    },
    update: async (caller: Principal, id: string, form: FunctionUpdate) =>
      await store(caller, await find(caller, id), form),
    /** Stores an earlier code again, under the present name. */
    async restore(caller: Principal, id: string, content: string) {
      const row = await find(caller, id);
      return await store(caller, row, { name: row.name, content });
    },
    ...createSwitches({ transaction, record, sandbox, changes, find }),
    async remove(caller: Principal, id: string) {
      const row = await find(caller, id);
      await transaction(async (tx) => {
        await deleteFunction(tx, id);
        await record(toEntry("deleted", { before: row }), tx);
      });
      await dropUserValves(id);
      await changes.changed(id, { code: true });
      changes.announce("deleted", caller, row);
      return true;
    },
  };
}

/** The id a function is stored under. Throws AppError `invalid` when it is no identifier. */
export function toFunctionName(id: string): string {
  return toCodeId(id, "function");
}

/** The id that code of a kind is stored under. Throws AppError `invalid` when it is no identifier. */
export function toCodeId(id: string, kind: "function" | "tool"): string {
  const name = id.trim().toLowerCase();
  if (!/^[a-z_][a-z0-9_]{0,255}$/.test(name)) {
    throw new AppError(
      "invalid",
      `The id of a ${kind} has 1 to 256 letters, digits and underscores, and does not begin with a digit.`,
    );
  }
  return name;
}

/** The columns that follow from code and form. */
export function toCode(form: FunctionUpdate, facts: FunctionFacts, stored?: FunctionRow) {
  const { name, content } = form;
  return { name, type: facts.type, content, meta: toMeta(form.meta, facts, stored?.meta) };
}

function taken(id: string): AppError {
  return new AppError("conflict", `There is a function with the id "${id}" already.`);
}
