import type { Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import { loadFacts, toScript } from "../calls/load.ts";
import type { CreateHost } from "../host/create-host.ts";
import type { FunctionChanges } from "../library/changes.ts";
import { findFunction, type FunctionRow, requireFunction, updateValves } from "../library/function-store.ts";
import type { RecordEntry } from "../library/record-change.ts";
import type { FunctionsDatabase } from "../tables.ts";
import { type CodeValves, createCodeValves } from "./code-valves.ts";
import type { UserValves } from "./user-valves.ts";
import { toValvePlace, type ValveVault } from "./valve-vault.ts";

export interface FunctionValvesParts {
  readonly db: FunctionsDatabase;
  readonly functions: Loader<FunctionRow>;
  readonly sandbox: Sandbox;
  readonly vault: ValveVault;
  readonly userValves: UserValves;
  readonly changes: FunctionChanges;
  readonly record: RecordEntry;
  readonly host: CreateHost;
  readonly log: Logger;
}

/** Settings of functions: those of the instance, and each person's own (contract 4.1, 4.2). */
export function createFunctionValves(parts: FunctionValvesParts): CodeValves {
  const { db, functions, sandbox, changes } = parts;
  return createCodeValves<FunctionRow>({
    ...parts,
    place: toValvePlace,
    find: (caller, id) => functions.load(caller, id, "write"),
    findFor: (caller, id) => findForUser(db, caller, id),
    async load(row) {
      const script = toScript(row);
      return { row, script, facts: await loadFacts(sandbox, script) };
    },
    async save(caller, row, { sealed, names }) {
      await updateValves(db, row.id, sealed);
      await parts.record({
        action: "function.valves_updated",
        object: { type: "function", id: row.id, name: row.name },
        // Names alone: any value may be a secret.
        after: { valves: names },
      });
      await changes.changed(row.id);
      changes.announce("valves_updated", caller, row);
    },
  });
}

/** An inactive function is there for administrators and its author only, who may try it. */
async function findForUser(db: FunctionsDatabase, caller: Principal, id: string): Promise<FunctionRow> {
  const row = requireFunction(await findFunction(db, id));
  if (!row.is_active && caller.role !== "admin" && row.user_id !== caller.userId) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}
