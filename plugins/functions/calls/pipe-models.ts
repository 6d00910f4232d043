import { type MaybePromise, mapMaybe } from "#kernel/maybe-promise.ts";
import type { ProviderModel } from "#kernel/completion/provider.ts";
import type { Logger } from "#kernel/log.ts";
import type { ActiveFunction, ActiveFunctions } from "./active.ts";
import { type SubItem, toSubItems } from "./facts.ts";
import type { Invoke } from "./invoke.ts";

/** A model and the pipe that answers for it. */
export interface PipeModel {
  readonly fn: ActiveFunction;
  /** Sub id of a pipe with several models. */
  readonly sub: string | undefined;
  readonly model: ProviderModel;
}

export interface PipeModels {
  /** The same array until something changes. */
  list(options?: { refresh?: boolean }): MaybePromise<readonly ProviderModel[]>;
  find(id: string): Promise<PipeModel | undefined>;
}

export interface PipeModelsParts {
  readonly active: ActiveFunctions;
  readonly invoke: Invoke;
  readonly log: Logger;
}

/** Milliseconds that a list waits for a pipe to name its models; then it is shown without them until they come. */
const patience = 1_000;
/** Milliseconds after which the next question asks such a pipe again, while the caller gets the old answer. */
const freshFor = 60_000;

/** The models that a pipe listed. */
interface Told {
  items: readonly SubItem[];
  askedAt: number;
  running: Promise<void> | undefined;
}

/** The models of all active pipes, from memory. */
export function createPipeModels({ active, invoke, log }: PipeModelsParts): PipeModels {
  const told = new WeakMap<ActiveFunction, Told>();
  /** Last good lists by function id, shown while changed code or valves are asked anew. */
  const last = new Map<string, readonly SubItem[]>();
  let seen: readonly unknown[] = [];
  let models: readonly PipeModel[] = [];
  let offered: readonly ProviderModel[] = [];
  let byId: ReadonlyMap<string, PipeModel> = new Map();

  async function ask(fn: ActiveFunction, entry: Told): Promise<void> {
    entry.askedAt = performance.now();
    try {
      const answer = await invoke.call(fn, { name: "pipes", facts: {}, signal: undefined });
      const items = toSubItems(answer, "pipes");
      entry.items = JSON.stringify(items) === JSON.stringify(entry.items) ? entry.items : items;
      last.set(fn.id, entry.items);
    } catch (error) {
      log.warn({ err: error, function: fn.id }, "a pipe could not list its models; the last list stays");
    } finally {
      entry.running = undefined;
    }
  }

  function touch(fn: ActiveFunction, refresh: boolean): Promise<void> | undefined {
    if (fn.facts.items !== "dynamic") {
      return undefined;
    }
    let entry = told.get(fn);
    const isFirst = entry === undefined;
    if (entry === undefined) {
      entry = { items: last.get(fn.id) ?? [], askedAt: -Infinity, running: undefined };
      told.set(fn, entry);
    }
    if (refresh || performance.now() - entry.askedAt > freshFor) {
      entry.running ??= ask(fn, entry);
    }
    return isFirst || refresh ? entry.running : undefined;
  }

  const update = (refresh: boolean): MaybePromise<void> =>
    mapMaybe(active.now() ?? active.current(), ({ ofType: { pipe } }) => {
      const waits = pipe.map((fn) => touch(fn, refresh)).filter((wait) => wait !== undefined);
      return waits.length > 0 ? within(Promise.all(waits), patience).then(() => take(pipe)) : take(pipe);
    });

  function take(pipe: readonly ActiveFunction[]): void {
    const itemsOf = (fn: ActiveFunction) => told.get(fn)?.items ?? fn.facts.items;
    const now = pipe.flatMap((fn) => [fn, itemsOf(fn)]);
    if (now.length === seen.length && now.every((each, at) => each === seen[at])) {
      return;
    }
    seen = now;
    models = pipe.flatMap((fn) => toModels(fn, itemsOf(fn)));
    offered = models.map(({ model }) => model);
    byId = new Map(models.map((each) => [each.model.id, each]));
  }

  return {
    list: ({ refresh = false } = {}) => mapMaybe(update(refresh), () => offered),
    async find(id) {
      await update(false);
      return byId.get(id);
    },
  };
}

function toModels(fn: ActiveFunction, items: readonly SubItem[] | "dynamic" | undefined): PipeModel[] {
  if (items === "dynamic") {
    return [];
  }
  const toModel = (id: string, name: string): ProviderModel => ({
    id,
    name,
    ownedBy: "openai",
    created: fn.createdAt,
    connectionType: "external",
    tags: [],
    access: "admins",
    item: { pipe: { type: "pipe" }, has_user_valves: fn.facts.userValves !== undefined },
  });
  if (items === undefined) {
    return [{ fn, sub: undefined, model: toModel(fn.id, fn.name) }];
  }
  return items.map(({ id, name }) => ({
    fn,
    sub: id,
    model: toModel(`${fn.id}.${id}`, `${fn.facts.prefix}${name}`),
  }));
}

/** Resolves when `work` has, or when the time is up; `work` goes on. */
function within(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
