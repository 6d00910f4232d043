import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ActiveFunctions } from "../calls/active.ts";
import type { FunctionsDatabase } from "../tables.ts";
import { toValvePlace, type ValveVault } from "../valves/valve-vault.ts";
import type { FunctionChanges } from "./changes.ts";
import { findFunction, requireFunction, updateValves } from "./function-store.ts";

export interface OrderParts {
  readonly db: FunctionsDatabase;
  readonly vault: ValveVault;
  readonly active: ActiveFunctions;
  readonly changes: FunctionChanges;
}

/** Puts active filters into an order by saving priorities, of as few of them as it takes. */
export function createOrder({ db, vault, active, changes }: OrderParts) {
  return async (caller: Principal, ids: readonly string[]): Promise<{ id: string; priority: number }[]> => {
    const { byId } = await active.current();
    const wanted = ids.map((id) => {
      const fn = byId.get(id);
      if (fn?.facts.type !== "filter") {
        throw new AppError("invalid", `ids: "${id}" is no filter that is switched on.`);
      }
      return { id, priority: fn.priority };
    });
    if (new Set(ids).size < ids.length) {
      throw new AppError("invalid", "ids: a filter was named twice.");
    }
    const ordered = toPriorities(wanted);
    for (const [index, { id, priority }] of ordered.entries()) {
      if (priority !== wanted[index]?.priority) {
        const row = requireFunction(await findFunction(db, id));
        const saved = vault.open(row.valves, toValvePlace(id));
        await updateValves(db, id, vault.close({ ...saved, priority }, toValvePlace(id)));
        await changes.changed(id);
        changes.announce("valves_updated", caller, row);
      }
    }
    return ordered;
  };
}

export type Order = ReturnType<typeof createOrder>;

interface RankedFilter {
  readonly id: string;
  readonly priority: number;
}

/** Keeps the longest run that is in order already, and places the others between their neighbours. */
export function toPriorities(wanted: readonly RankedFilter[]): RankedFilter[] {
  const kept = longestRun(wanted);
  const ordered: RankedFilter[] = [];
  for (const [index, { id, priority }] of wanted.entries()) {
    const before = ordered.at(-1)?.priority;
    const next = wanted.slice(index + 1).find((_each, ahead) => kept.has(index + 1 + ahead))?.priority;
    const stays = kept.has(index) && (before === undefined || priority > before);
    ordered.push({ id, priority: stays ? priority : between(before, next) });
  }
  return ordered;
}

function between(before: number | undefined, next: number | undefined): number {
  if (before === undefined) {
    return next === undefined ? 0 : next - 1;
  }
  return next === undefined || next <= before || next - before > 1 ? before + 1 : (before + next) / 2;
}

/** Indices of a longest strictly increasing run of priorities. */
function longestRun(wanted: readonly RankedFilter[]): ReadonlySet<number> {
  const best: number[][] = [];
  for (const [index, { priority }] of wanted.entries()) {
    const earlier = best.filter((run) => (wanted[run.at(-1) as number] as RankedFilter).priority < priority);
    const longest = earlier.reduce<number[]>((most, run) => (run.length > most.length ? run : most), []);
    best.push([...longest, index]);
  }
  return new Set(best.reduce<number[]>((most, run) => (run.length > most.length ? run : most), []));
}
