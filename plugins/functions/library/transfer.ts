import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { ValveValues } from "../valves/valve-set.ts";
import type { FunctionChanges } from "./changes.ts";
import type { FunctionFacts } from "../calls/facts.ts";
import {
  deleteFunction,
  type FunctionRow,
  insertFunction,
  listFunctions,
  updateCode,
  updateFields,
  updateValves,
} from "./function-store.ts";
import { toCode, toFunctionName } from "./library.ts";
import { type RecordEntry, toEntry } from "./record-change.ts";
import { loadFacts, toScript } from "../calls/load.ts";
import { toFullRecord } from "./record.ts";
import type { SyncedFunction } from "../schema.ts";
import type { FunctionsDatabase, FunctionsTransaction } from "../tables.ts";
import { toValvePlace, type ValveVault } from "../valves/valve-vault.ts";

export interface TransferParts {
  readonly db: FunctionsDatabase;
  readonly transaction: FunctionsTransaction;
  readonly sandbox: Sandbox;
  readonly vault: ValveVault;
  readonly changes: FunctionChanges;
  readonly record: RecordEntry;
  dropUserValves(id: string): Promise<void>;
}

/** A sent function whose code has been loaded. */
interface Incoming {
  readonly form: SyncedFunction;
  readonly facts: FunctionFacts;
  readonly stored: FunctionRow | undefined;
  readonly valves: ValveValues | undefined;
}

/** Whole libraries in and out (contract 4.1: export, sync). */
export function createTransfer(parts: TransferParts) {
  const { db, transaction, sandbox, vault, changes } = parts;

  async function check(form: SyncedFunction, caller: Principal, row?: FunctionRow): Promise<Incoming> {
    try {
      const script = toScript({ id: form.id, user_id: row?.user_id ?? caller.userId, content: form.content });
      const facts = await loadFacts(sandbox, script);
      const valves = form.valves ? (facts.valves?.check(form.valves) ?? {}) : undefined;
      return { form, facts, stored: row, valves };
    } catch (error) {
      throw error instanceof AppError ? new AppError(error.code, `${form.id}: ${error.message}`) : error;
    }
  }

  async function write(tx: FunctionsDatabase, caller: Principal, incoming: Incoming): Promise<void> {
    const { form, facts, stored, valves } = incoming;
    const { id } = form;
    const fields = toCode(form, facts, stored);
    const row =
      stored === undefined
        ? await insertFunction(tx, { ...fields, id, user_id: caller.userId })
        : await updateCode(tx, id, { fields, author: caller.userId });
    // Code that declares more than what was on waits for an administrator to look at it.
    const isWaiting = stored?.is_active === true && row?.is_active === false;
    const { is_active, is_global } = form;
    const after = await updateFields(tx, id, {
      ...(is_active === undefined || isWaiting ? {} : { is_active, error: null }),
      ...(is_global === undefined ? {} : { is_global }),
    });
    await parts.record(toEntry(stored ? "updated" : "created", { before: stored, after }), tx);
    if (valves !== undefined) {
      await updateValves(tx, id, vault.close(valves, toValvePlace(id)));
    }
  }

  return {
    async export(withValves: boolean) {
      return (await listFunctions(db)).map((row) => ({
        ...toFullRecord(row),
        ...(withValves ? { valves: { ...vault.open(row.valves, toValvePlace(row.id)) } } : {}),
      }));
    },

    /** Makes the library what was sent: others are deleted. Nothing changes when one of them does not load. */
    async sync(caller: Principal, sent: readonly SyncedFunction[]) {
      const forms = requireDistinct(sent.map((form) => ({ ...form, id: toFunctionName(form.id) })));
      const before = new Map((await listFunctions(db)).map((row) => [row.id, row]));
      const incoming: Incoming[] = [];
      for (const form of forms) {
        incoming.push(await check(form, caller, before.get(form.id)));
      }
      const kept = new Set(forms.map(({ id }) => id));
      const gone = [...before.values()].filter(({ id }) => !kept.has(id));
      await transaction(async (tx) => {
        for (const each of incoming) {
          await write(tx, caller, each);
        }
        for (const row of gone) {
          await deleteFunction(tx, row.id);
          await parts.record(toEntry("deleted", { before: row }), tx);
        }
      });
      for (const { form, stored, facts } of incoming) {
        await changes.changed(form.id, { code: true });
        changes.announce(stored ? "updated" : "created", caller, { ...form, type: facts.type });
      }
      for (const row of gone) {
        await parts.dropUserValves(row.id);
        await changes.changed(row.id, { code: true });
        changes.announce("deleted", caller, row);
      }
      return (await listFunctions(db)).map(toFullRecord);
    },
  };
}

export type Transfer = ReturnType<typeof createTransfer>;

function requireDistinct(forms: readonly SyncedFunction[]): readonly SyncedFunction[] {
  const seen = new Set<string>();
  for (const { id } of forms) {
    if (seen.has(id)) {
      throw new AppError("invalid", `The function "${id}" was sent twice.`);
    }
    seen.add(id);
  }
  return forms;
}
