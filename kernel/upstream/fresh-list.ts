import type { Breaker } from "#kernel/egress/breaker.ts";

/** Outcome of the last fetch of a list. */
export interface ListHealth {
  /** Epoch seconds. */
  readonly checkedAt: number;
  readonly latencyMs: number;
  /** Undefined when the list arrived. */
  readonly error: unknown;
  /** Milliseconds for which the breaker keeps questions from starting a fetch. */
  pausesFor(): number;
}

/** The last good list of one upstream, refreshed behind whoever asks. */
export interface FreshList<T> {
  /** The last good list; undefined while none arrived yet. The same object until it changes. */
  readonly list: T | undefined;
  /** Undefined until the first fetch ended. */
  readonly health: ListHealth | undefined;
  /** Starts a refresh when the list is old and the breaker allows it; resolves when there is something to say, at once as a rule. */
  touch(): Promise<void> | undefined;
  /** Asks the upstream now, or joins whoever already does; never rejects. */
  refresh(): Promise<void>;
}

export interface FreshListOptions<T> {
  /** Fetches the list; rejects when the upstream is down, too slow or talks nonsense. */
  fetch(): Promise<T>;
  readonly breaker: Breaker;
  /** Told of a change between working and failing, not of every failure. */
  turned(error: unknown): void;
  /** True for failures that cost the whole time limit. */
  isTimeout(error: unknown): boolean;
  /** ENABLE_BASE_MODELS_CACHE: a list that has arrived stays until somebody asks for a new one. */
  staysFresh(): boolean;
  /** Milliseconds of a steady clock. */
  now(): number;
}

/** Milliseconds after which the next question starts a refresh. */
const freshFor = 30_000;

/** Milliseconds from the first fetch on in which questions wait for it; later ones find a dead upstream's list empty. */
const patienceAtFirst = 1000;

/** Builds the list of one upstream. Contract D.12, promise R13. */
export function createFreshList<T>(options: FreshListOptions<T>): FreshList<T> {
  let list: T | undefined;
  let askedAt = -Infinity;
  let running: Promise<void> | undefined;
  let firstAskedAt: number | undefined;
  let isFailing = false;
  let health: ListHealth | undefined;

  const record = (startedAt: number, error?: unknown) => {
    health = {
      checkedAt: Math.floor(Date.now() / 1000),
      latencyMs: Math.round(options.now() - startedAt),
      error,
      pausesFor: options.breaker.pausesFor,
    };
  };
  async function ask(): Promise<void> {
    const startedAt = options.now();
    askedAt = startedAt;
    firstAskedAt ??= askedAt;
    try {
      const fetched = await options.fetch();
      list = isSame(list, fetched) ? list : fetched;
      options.breaker.succeeded();
      record(startedAt);
      if (isFailing) {
        isFailing = false;
        options.turned(undefined);
      }
    } catch (error) {
      options.breaker.failed(options.isTimeout(error));
      record(startedAt, error);
      // A failed try is soon followed by the next; how soon is for the breaker to say.
      askedAt = -Infinity;
      if (!isFailing) {
        isFailing = true;
        options.turned(error);
      }
    } finally {
      running = undefined;
    }
  }

  const refresh = () => (running ??= ask());
  return {
    get list() {
      return list;
    },
    get health() {
      return health;
    },
    refresh,
    touch() {
      const isOld = options.now() - askedAt > freshFor && !(list !== undefined && options.staysFresh());
      if (running === undefined && isOld && options.breaker.allows()) {
        void refresh();
      }
      if (list !== undefined || running === undefined || firstAskedAt === undefined) {
        return undefined;
      }
      const patience = firstAskedAt + patienceAtFirst - options.now();
      return patience > 0 ? withinTime(running, patience) : undefined;
    },
  };
}

function isSame(known: unknown, fetched: unknown): boolean {
  return known !== undefined && JSON.stringify(known) === JSON.stringify(fetched);
}

function withinTime(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
