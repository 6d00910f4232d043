import type { Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { ValveSchema, ValveSet, ValveValues } from "./valve-set.ts";
import { toUser } from "../calls/call-context.ts";
import type { FunctionChanges } from "../library/changes.ts";
import type { RecordEntry } from "../library/record-change.ts";
import type { FunctionFacts } from "../calls/facts.ts";
import { findFunction, type FunctionRow, updateValves } from "../library/function-store.ts";
import type { CreateHost } from "../host/create-host.ts";
import { loadFacts, toScript } from "../calls/load.ts";
import type { FunctionsDatabase } from "../tables.ts";
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

type Schema = Readonly<Record<string, unknown>>;

/** Settings of functions: those of the instance, and each person's own (contract 4.1, 4.2). */
export type FunctionValves = ReturnType<typeof createFunctionValves>;

const maxBytes = 64 * 1024;

/** Milliseconds that a form waits for the options that the code lists. */
const optionsDeadline = 5_000;

export function createFunctionValves(parts: FunctionValvesParts) {
  const { db, functions, sandbox, vault, userValves, changes } = parts;

  async function load(caller: Principal, id: string): Promise<{ row: FunctionRow; facts: FunctionFacts }> {
    const row = await functions.load(caller, id, "write");
    return { row, facts: await loadFacts(sandbox, toScript(row)) };
  }

  /** An inactive function is there for administrators and its author only, who may try it. */
  async function loadFor(caller: Principal, id: string) {
    const row = await requireRow(db, id);
    if (!row.is_active && caller.role !== "admin" && row.user_id !== caller.userId) {
      throw new AppError("not_found", "Not found");
    }
    return { row, facts: await loadFacts(sandbox, toScript(row)) };
  }

  async function toSpec(
    caller: Principal,
    { row, facts }: { row: FunctionRow; facts: FunctionFacts },
    set: ValveSet | undefined,
  ): Promise<Schema | null> {
    if (set === undefined) {
      return null;
    }
    const properties = await Promise.all(
      [...set.properties].map(async ([name, schema]) => {
        const options = await listOptions(parts, { caller, row, facts }, schema);
        const input = schema["input"] as Record<string, unknown> | undefined;
        return [name, options ? { ...schema, input: { ...input, options } } : schema] as const;
      }),
    );
    return { ...set.schema, properties: Object.fromEntries(properties) };
  }

  return {
    async read(caller: Principal, id: string): Promise<ValveValues> {
      return vault.open((await functions.load(caller, id, "write")).valves, toValvePlace(id));
    },
    async spec(caller: Principal, id: string) {
      const loaded = await load(caller, id);
      return await toSpec(caller, loaded, loaded.facts.valves);
    },
    async update(caller: Principal, id: string, given: ValveValues): Promise<ValveValues> {
      const { row, facts } = await load(caller, id);
      const set = requireSet(facts.valves);
      const { priority } = vault.open(row.valves, toValvePlace(id));
      // The place among the filters is saved beside the valves of the code.
      const placed = priority === undefined || set.properties.has("priority") ? {} : { priority };
      const values = { ...set.check(requireSmall(given)), ...placed };
      await updateValves(db, id, vault.close(values, toValvePlace(id)));
      // Names alone: any value may be a secret.
      const after = { valves: Object.keys(values) };
      await parts.record({
        action: "function.valves_updated",
        object: { type: "function", id, name: row.name },
        after,
      });
      await changes.changed(id);
      changes.announce("valves_updated", caller, row);
      return values;
    },
    async readUser(caller: Principal, id: string): Promise<ValveValues> {
      await requireRow(db, id);
      return await userValves.saved(caller.userId, id);
    },
    async userSpec(caller: Principal, id: string) {
      const loaded = await loadFor(caller, id);
      return await toSpec(caller, loaded, loaded.facts.userValves);
    },
    async updateUser(caller: Principal, id: string, given: ValveValues): Promise<ValveValues> {
      const { facts } = await loadFor(caller, id);
      const values = requireSet(facts.userValves).check(requireSmall(given));
      await userValves.save(caller.userId, id, values);
      return values;
    },
  };
}

/** The options of a field whose `input.options` names an exported function: it is called with the user. */
async function listOptions(
  { sandbox, host, log }: FunctionValvesParts,
  { caller, row, facts }: { caller: Principal; row: FunctionRow; facts: FunctionFacts },
  schema: ValveSchema,
): Promise<unknown[] | undefined> {
  const name = (schema["input"] as Record<string, unknown> | undefined)?.["options"];
  if (typeof name !== "string") {
    return undefined;
  }
  const controller = new AbortController();
  const { signal } = controller;
  try {
    const answer = await sandbox.call(toScript(row), {
      name,
      args: [toUser(caller), { id: row.id }],
      host: host({ id: row.id, capabilities: facts.capabilities, principal: caller, signal }),
      deadlineMs: optionsDeadline,
    });
    return Array.isArray(answer) ? answer : [];
  } catch (error) {
    log.warn({ err: error, function: row.id, options: name }, "a function could not list its options");
    return [];
  } finally {
    // Its host calls end with it.
    controller.abort();
  }
}

async function requireRow(db: FunctionsDatabase, id: string): Promise<FunctionRow> {
  const row = await findFunction(db, id);
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

/** They stay in memory, and every call copies them into the sandbox. */
function requireSmall(values: ValveValues): ValveValues {
  if (Buffer.byteLength(JSON.stringify(values)) > maxBytes) {
    throw new AppError("too_large", `The valves of a function may take at most ${maxBytes} bytes.`);
  }
  return values;
}

function requireSet(set: ValveSet | undefined): ValveSet {
  if (set === undefined) {
    throw new AppError("not_found", "This function has no such valves.");
  }
  return set;
}
