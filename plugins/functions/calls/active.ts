import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox, Script } from "#kernel/sandbox.ts";
import type { ValveValues } from "../valves/valve-set.ts";
import type { FunctionFacts, FunctionType } from "./facts.ts";
import type { FunctionRow } from "../library/function-store.ts";
import { isOwnFault, loadFacts, toScript } from "./load.ts";

/** A function that is switched on, loaded and ready to be called. */
export interface ActiveFunction {
  readonly id: string;
  readonly name: string;
  readonly isGlobal: boolean;
  /** Groups for whose members a filter works, whatever the model. */
  readonly groupIds: ReadonlySet<string>;
  readonly createdAt: number;
  readonly script: Script;
  readonly facts: FunctionFacts;
  /** Saved values over defaults. */
  readonly valves: ValveValues;
  /** The saved valve `priority`, else the code's own (contract D.30). */
  readonly priority: number;
}

/** All active functions at one moment, by id; lists run by priority, ties by id. */
export interface ActiveSet {
  readonly byId: ReadonlyMap<string, ActiveFunction>;
  readonly ofType: Readonly<Record<FunctionType, readonly ActiveFunction[]>>;
}

/** The active functions, in memory: the way of a completion must not wait for the database. */
export interface ActiveFunctions {
  /** Those of now; undefined while they are being read. */
  now(): ActiveSet | undefined;
  current(): Promise<ActiveSet>;
  /** They changed here: what is asked next waits for the new ones. */
  forget(): void;
  /** Reads them anew, because they may have changed elsewhere; callers get the old ones until then. */
  refresh(): void;
}

export interface ActiveOptions {
  readonly sandbox: Sandbox;
  readonly log: Logger;
  list(): Promise<FunctionRow[]>;
  /** The saved valves in clear. Throws when they cannot be read. */
  openValves(row: FunctionRow): ValveValues;
  /** Switches off what does not load; the reason is shown to administrators. */
  failed(row: FunctionRow, reason: string): Promise<void>;
}

/** Reads active functions through a copy in memory that is dropped at every change. */
export function createActiveFunctions(options: ActiveOptions): ActiveFunctions {
  let set: ActiveSet | undefined;
  let loading: Promise<ActiveSet> | undefined;
  /** Counts readings and changes, so that only the latest reading is kept. */
  let turn = 0;
  /** Facts of unchanged code are kept, so that a change of one function loads one function. */
  let known = new Map<string, { script: Script; facts: FunctionFacts }>();

  const toDelay = createDelays();

  /** `isWhole` when no function is missing for no fault of its own. */
  async function read(): Promise<{ readonly result: ActiveSet; readonly isWhole: boolean }> {
    const rows = await options.list();
    const loaded = await Promise.all(rows.map(async (row) => await toActive(row)));
    const active = loaded.filter((each) => typeof each === "object");
    known = new Map(active.map(({ id, script, facts }) => [id, { script, facts }]));
    return { result: toSet(active), isWhole: !loaded.includes("missed") };
  }

  /** "missed" when it did not load for no fault of its own. */
  async function toActive(row: FunctionRow): Promise<ActiveFunction | "missed" | undefined> {
    const script = toScript(row);
    const before = known.get(row.id);
    const isKnown = before?.script.source === script.source && before.script.owner === script.owner;
    try {
      const facts = isKnown ? before.facts : await loadFacts(options.sandbox, script);
      return toActiveFunction(row, { script, facts, saved: options.openValves(row) });
    } catch (error) {
      if (!(error instanceof AppError) || !isOwnFault(error)) {
        options.log.error(
          { err: error, function: row.id },
          "a function could not be loaded; it is tried again",
        );
        return "missed";
      }
      await options.failed(row, error.message);
      return undefined;
    }
  }

  function load(): Promise<ActiveSet> {
    const mine = ++turn;
    const reading = read().then(
      ({ result, isWhole }) => {
        // A reading that a change overtook may have seen the old rows.
        if (mine === turn) {
          set = result;
          const delay = toDelay(isWhole);
          if (delay > 0) {
            setTimeout(() => mine === turn && refresh(), delay).unref();
          }
        }
        return result;
      },
      (error: unknown) => {
        if (mine === turn) {
          loading = undefined;
        }
        throw error;
      },
    );
    loading = reading;
    return reading;
  }

  const refresh = (): void => {
    const reading = load();
    const mine = turn;
    reading.catch((error: unknown) => {
      options.log.warn({ err: error }, "the functions could not be read anew; the old ones stay for now");
      setTimeout(() => mine === turn && refresh(), retryAfter).unref();
    });
  };

  return {
    now: () => set,
    current: async () => set ?? (await (loading ?? load())),
    forget() {
      turn += 1;
      loading = undefined;
      set = undefined;
    },
    refresh,
  };
}

/** Milliseconds until a failed refresh is tried again, at first and at most. */
const retryAfter = 1_000;
const longestRetry = 60_000;

/** Longer and longer until all is well. */
function createDelays(): (isWell: boolean) => number {
  let next = retryAfter;
  return (isWell) => {
    const delay = isWell ? 0 : next;
    next = isWell ? retryAfter : Math.min(2 * next, longestRetry);
    return delay;
  };
}

/** Puts a row and its loaded code together; `saved` are its valves in clear. */
export function toActiveFunction(
  row: Pick<FunctionRow, "id" | "name" | "is_global" | "created_at"> & Partial<Pick<FunctionRow, "meta">>,
  { script, facts, saved }: { script: Script; facts: FunctionFacts; saved: ValveValues },
): ActiveFunction {
  return {
    id: row.id,
    name: row.name,
    isGlobal: row.is_global,
    groupIds: new Set(toGroupIds(row.meta)),
    createdAt: row.created_at,
    script,
    facts,
    valves: facts.valves?.complete(saved) ?? {},
    priority: toPriority(facts, saved),
  };
}

/** The groups that the record of a function names. */
export function toGroupIds(meta: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const ids = meta?.["group_ids"];
  return Array.isArray(ids) ? ids.map(String) : [];
}

function toPriority({ priority, valves }: FunctionFacts, saved: ValveValues): number {
  const declared = valves?.properties.get("priority")?.["default"];
  const number = (value: unknown) => (typeof value === "number" ? value : undefined);
  return number(saved["priority"]) ?? priority ?? number(declared) ?? 0;
}

function toSet(active: readonly ActiveFunction[]): ActiveSet {
  const ordered = active.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  const ofType = (type: FunctionType) => ordered.filter(({ facts }) => facts.type === type);
  return {
    byId: new Map(ordered.map((each) => [each.id, each])),
    ofType: {
      pipe: ofType("pipe"),
      filter: ofType("filter"),
      action: ofType("action"),
      event: ofType("event"),
    },
  };
}
