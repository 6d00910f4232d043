import type { MaybePromise } from "#kernel/maybe-promise.ts";
import { type Breaker, createBreaker } from "#kernel/egress/breaker.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import { type EndpointState, toEndpointState } from "#kernel/upstream/endpoint-state.ts";
import { createFreshList, type FreshList } from "#kernel/upstream/fresh-list.ts";
import { createLive, forgetOthers } from "#kernel/upstream/live-endpoints.ts";
import { createUsable } from "#kernel/upstream/usable.ts";
import { type Backend, type Holder, toBackends } from "./backend.ts";
import type { RuntimeConfig } from "../config.ts";
import type { RuntimeList } from "./fetch-list.ts";
import { type AvailableModels, toAvailableModels } from "./available-models.ts";

/** The configured backends as they are now, with what they offer. */
export interface Backends {
  /** All of them by index, those switched off included. */
  list(): readonly Backend[];
  /** Those that can be called. */
  usable(): readonly Backend[];
  /** The backend of this index. Throws `not_found` for one that does not exist or cannot be called. */
  require(index: number): Backend;
  /** The models of the last good lists, which are refreshed in the background; `refresh` waits for every backend. */
  models(options?: { refresh?: boolean }): MaybePromise<AvailableModels>;
  /** The models of the last good lists, without a refresh. */
  known(): AvailableModels;
  /** The backends that hold a model, by its public id, in the order in which to try them; those that are down come last. */
  holders(id: string): readonly Holder[];
  /** Asks one backend for its list now and waits, within its time limit; never rejects. */
  refresh(backend: Backend): Promise<void>;
  /** Records whether a backend could be reached. */
  recordReachability(backend: Backend, isReached: boolean): void;
  /** How each of them fares, by the last fetch; asks nobody. */
  states(): EndpointState[];
  /** Starts fetching every list; waits for nothing. */
  warmUp(): void;
}

export interface BackendsOptions {
  readonly config: Pick<RuntimeConfig, "enabled" | "baseUrls" | "configs" | "baseModelsCache">;
  fetchList(backend: Backend): Promise<RuntimeList>;
  readonly log: Logger;
  /** Told of a backend whose list arrived before and no longer does. */
  readonly failed?: (backend: Backend, error: unknown) => void;
}

/** The state of one backend; it lives as long as address and key stay the same. */
interface BackendState {
  readonly list: FreshList<RuntimeList>;
  /** Open while calls fail: others are tried first. */
  readonly calls: Breaker;
  isListing: boolean;
}

/** Follows the settings live; lists of backends that did not change are kept. */
export function createBackends(options: BackendsOptions): Backends {
  const kept = new Map<string, BackendState>();
  const { config, log } = options;
  const live = createLive({
    settings: () => [config.baseUrls, config.configs],
    build: () => toBackends(config.baseUrls, config.configs),
    leftOut: ({ index }, problem) => log.warn({ backend: index }, `a backend is left out: ${problem}`),
  });
  const usable = createUsable(config, live);
  let available: AvailableModels = toAvailableModels([]);
  let madeOf: readonly Backend[] = [];
  let madeOfLists: readonly unknown[] = [];

  const keep = (backend: Backend): BackendState => {
    const known = kept.get(backend.fingerprint) ?? open(backend, options);
    kept.set(backend.fingerprint, known);
    return known;
  };
  const isUp = (backend: Backend) => {
    const known = kept.get(backend.fingerprint);
    return known === undefined || (known.isListing && known.calls.allows());
  };

  /** The same object until a setting or a list changes. */
  const current = (): AvailableModels => {
    const backends = usable();
    const known = ({ fingerprint }: Backend) => kept.get(fingerprint)?.list.list;
    if (backends !== madeOf || backends.some((each, at) => known(each) !== madeOfLists[at])) {
      madeOf = backends;
      madeOfLists = backends.map(known);
      available = toAvailableModels(backends.map((backend) => ({ backend, list: known(backend) })));
    }
    return available;
  };

  return {
    list: live,
    usable,
    require(index) {
      const backend = usable().find((each) => each.index === index);
      if (backend === undefined) {
        throw new AppError("not_found", "Backend not found");
      }
      return backend;
    },
    models({ refresh = false } = {}) {
      forgetOthers(kept, live());
      const waits: Promise<void>[] = [];
      for (const backend of usable()) {
        const { list } = keep(backend);
        const wait = refresh ? list.refresh() : list.touch();
        if (wait !== undefined) {
          waits.push(wait);
        }
      }
      return waits.length > 0 ? Promise.all(waits).then(current) : current();
    },
    known: current,
    holders: (id) =>
      shuffled(current().holders.get(id) ?? []).toSorted(
        (a, b) => Number(isUp(b.backend)) - Number(isUp(a.backend)),
      ),
    refresh: (backend) => keep(backend).list.refresh(),
    recordReachability(backend, isReached) {
      const { calls } = keep(backend);
      if (isReached) {
        calls.succeeded();
      } else {
        calls.failed(false);
      }
    },
    states: () =>
      live().map((each) => observe(each, kept, { enabled: config.enabled, available: current() })),
    warmUp() {
      for (const backend of usable()) {
        void keep(backend).list.touch();
      }
    },
  };
}

function open(backend: Backend, { config, fetchList, log, failed }: BackendsOptions): BackendState {
  const now = () => performance.now();
  const kept: BackendState = {
    isListing: true,
    calls: createBreaker({ threshold: 1, firstPause: 2000, longestPause: 15_000, now }),
    list: createFreshList({
      fetch: () => fetchList(backend),
      breaker: createBreaker({ threshold: 2, firstPause: 2000, longestPause: 15_000, now }),
      isTimeout: (error) => error instanceof AppError && error.code === "timeout",
      staysFresh: () => config.baseModelsCache,
      now,
      turned(error) {
        kept.isListing = error === undefined;
        if (kept.isListing) {
          log.info({ backend: backend.index }, "a backend lists its models again");
        } else {
          log.warn(
            { backend: backend.index, err: error },
            "a backend does not list its models; the last good list is served",
          );
          failed?.(backend, error);
        }
      },
    }),
  };
  return kept;
}

interface Observed {
  readonly enabled: boolean;
  readonly available: AvailableModels;
}

function observe(
  backend: Backend,
  kept: ReadonlyMap<string, BackendState>,
  { enabled, available }: Observed,
): EndpointState {
  return toEndpointState({
    endpoint: backend,
    isKindEnabled: enabled,
    health: kept.get(backend.fingerprint)?.list.health,
    models: namesHeldBy(backend, available),
  });
}

function namesHeldBy({ index }: Backend, { holders }: AvailableModels): string[] {
  return [...holders].flatMap(([id, all]) =>
    all.some(({ backend }) => backend.index === index) ? [id] : [],
  );
}

function shuffled<T>(list: readonly T[]): T[] {
  const result = [...list];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [result[at], result[other]] = [result[other] as T, result[at] as T];
  }
  return result;
}
