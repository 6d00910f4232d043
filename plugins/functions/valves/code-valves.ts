import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox, Script } from "#kernel/sandbox.ts";
import { toUser } from "../calls/call-context.ts";
import type { CodeFacts } from "../calls/facts.ts";
import type { CreateHost } from "../host/create-host.ts";
import type { UserValves } from "./user-valves.ts";
import type { ValveSchema, ValveSet, ValveValues } from "./valve-set.ts";
import type { ValveVault } from "./valve-vault.ts";

/** The row of a function or a workspace tool, as its valves need it. */
export interface ValvedRow {
  readonly id: string;
  readonly name: string;
  readonly valves: unknown;
}

export interface Loaded<Row> {
  readonly row: Row;
  readonly script: Script;
  readonly facts: CodeFacts;
}

export interface CodeValvesParts<Row extends ValvedRow> {
  /** The row for somebody who may set its valves. */
  find(caller: Principal, id: string): Promise<Row>;
  /** The row for somebody who may keep valves of their own for it. */
  findFor(caller: Principal, id: string): Promise<Row>;
  load(row: Row): Promise<Loaded<Row>>;
  /** Where the valves of a row are kept. */
  place(id: string): string;
  /** Stores what the vault gave, and tells everybody; `names` are those of the values. */
  save(caller: Principal, row: Row, change: { sealed: unknown; names: readonly string[] }): Promise<void>;
  readonly sandbox: Sandbox;
  readonly vault: ValveVault;
  readonly userValves: UserValves;
  readonly host: CreateHost;
  readonly log: Logger;
}

type Schema = Readonly<Record<string, unknown>>;

/** Settings of code: those of the instance, and each person's own (contract 4.1, 4.2). */
export interface CodeValves {
  read(caller: Principal, id: string): Promise<ValveValues>;
  /** The form; null when the code declares none. */
  spec(caller: Principal, id: string): Promise<Schema | null>;
  update(caller: Principal, id: string, given: ValveValues): Promise<ValveValues>;
  readUser(caller: Principal, id: string): Promise<ValveValues>;
  userSpec(caller: Principal, id: string): Promise<Schema | null>;
  updateUser(caller: Principal, id: string, given: ValveValues): Promise<ValveValues>;
}

const maxBytes = 64 * 1024;

/** Milliseconds that a form waits for the options that the code lists. */
const optionsDeadline = 5_000;

/** Creates what stands behind the valve routes of one kind of code. */
export function createCodeValves<Row extends ValvedRow>(parts: CodeValvesParts<Row>): CodeValves {
  const { vault, userValves, place } = parts;
  const load = async (caller: Principal, id: string) => await parts.load(await parts.find(caller, id));
  const loadFor = async (caller: Principal, id: string) => await parts.load(await parts.findFor(caller, id));

  async function toSpec(caller: Principal, loaded: Loaded<Row>, set: ValveSet | undefined) {
    if (set === undefined) {
      return null;
    }
    const properties = await Promise.all(
      [...set.properties].map(async ([name, schema]) => {
        const options = await listOptions(parts, { caller, ...loaded }, schema);
        const input = schema["input"] as Record<string, unknown> | undefined;
        return [name, options ? { ...schema, input: { ...input, options } } : schema] as const;
      }),
    );
    return { ...set.schema, properties: Object.fromEntries(properties) };
  }

  return {
    read: async (caller, id) => vault.open((await parts.find(caller, id)).valves, place(id)),
    async spec(caller, id) {
      const loaded = await load(caller, id);
      return await toSpec(caller, loaded, loaded.facts.valves);
    },
    async update(caller, id, given) {
      const { row, facts } = await load(caller, id);
      const set = requireSet(facts.valves);
      const { priority } = vault.open(row.valves, place(id));
      // The place among the filters is saved beside the valves of the code.
      const placed = priority === undefined || set.properties.has("priority") ? {} : { priority };
      const values = { ...set.check(requireSmall(given)), ...placed };
      const sealed = vault.close(values, place(id));
      await parts.save(caller, row, { sealed, names: Object.keys(values) });
      return values;
    },
    async readUser(caller, id) {
      await parts.findFor(caller, id);
      return await userValves.saved(caller.userId, id);
    },
    async userSpec(caller, id) {
      const loaded = await loadFor(caller, id);
      return await toSpec(caller, loaded, loaded.facts.userValves);
    },
    async updateUser(caller, id, given) {
      const { facts } = await loadFor(caller, id);
      const values = requireSet(facts.userValves).check(requireSmall(given));
      await userValves.save(caller.userId, id, values);
      return values;
    },
  };
}

/** The options of a field whose `input.options` names an exported function: it is called with the user. */
async function listOptions<Row extends ValvedRow>(
  { sandbox, host, log }: CodeValvesParts<Row>,
  { caller, row, script, facts }: Loaded<Row> & { caller: Principal },
  schema: ValveSchema,
): Promise<unknown[] | undefined> {
  const name = (schema["input"] as Record<string, unknown> | undefined)?.["options"];
  if (typeof name !== "string") {
    return undefined;
  }
  const controller = new AbortController();
  const { signal } = controller;
  try {
    const answer = await sandbox.call(script, {
      name,
      args: [toUser(caller), { id: row.id }],
      host: host({ id: row.id, capabilities: facts.capabilities, principal: caller, signal }),
      deadlineMs: optionsDeadline,
    });
    return Array.isArray(answer) ? answer : [];
  } catch (error) {
    log.warn({ err: error, script: script.id, options: name }, "code could not list its options");
    return [];
  } finally {
    // Its host calls end with it.
    controller.abort();
  }
}

/** They stay in memory, and every call copies them into the sandbox. */
function requireSmall(values: ValveValues): ValveValues {
  if (Buffer.byteLength(JSON.stringify(values)) > maxBytes) {
    throw new AppError("too_large", `The valves of a function or tool may take at most ${maxBytes} bytes.`);
  }
  return values;
}

function requireSet(set: ValveSet | undefined): ValveSet {
  if (set === undefined) {
    throw new AppError("not_found", "This code has no such valves.");
  }
  return set;
}
