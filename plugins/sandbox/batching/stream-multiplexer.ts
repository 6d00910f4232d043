import type ivm from "isolated-vm";
import { streamRouter } from "../host/bootstrap.ts";
import type { Realm } from "../host/realm.ts";
import { limits } from "../limits.ts";
import { BatchScheduler } from "./batch-scheduler.ts";
import { type Batch, type BatchListener, cross, type Queued, type Router } from "./crossing.ts";
import type { Copied } from "./transfer.ts";

export interface StreamHook {
  readonly realm: Realm;
  /** The JSON of its context. */
  readonly context: string;
  /** The names of members that it may ask for. */
  readonly lazyMembers: readonly string[];
}

/** Takes the batches of all runs of an isolate to its router (inside/stream-router.js). */
export interface StreamMultiplexer {
  /** Begins a run and answers its number; throws what the isolate throws. */
  open(hooks: readonly StreamHook[]): number;
  /** Ends a run. */
  close(run: number): void;
  /** Resolves to the chunks as the hooks left them; they cross at most `maxDelayMs` after the previous crossing. */
  push(
    run: number,
    listener: BatchListener,
    chunks: readonly string[],
    maxDelayMs: number,
  ): Promise<readonly string[]>;
}

const multiplexers = new WeakMap<ivm.Isolate, StreamMultiplexer>();

/** The multiplexer of an isolate; the context of its router is made at the first use. */
export function multiplexerOf(isolate: ivm.Isolate): StreamMultiplexer {
  let multiplexer = multiplexers.get(isolate);
  if (multiplexer === undefined) {
    multiplexer = createMultiplexer(isolate);
    multiplexers.set(isolate, multiplexer);
  }
  return multiplexer;
}

const within = {
  get timeout() {
    return limits.streamMs;
  },
};

function createMultiplexer(isolate: ivm.Isolate): StreamMultiplexer {
  const router = openRouter(isolate);
  const binders = new Map<Realm, number>();
  /** Runs that have not crossed: they begin together with their first batches. */
  const beginnings = new Map<number, Copied>();
  let openRuns = 0;
  let waitingBatches = 0;
  const scheduler = new BatchScheduler<Queued>((items) => {
    waitingBatches -= items.filter(({ batch }) => batch).length;
    cross(router, items);
  });
  let last = 0;

  const binderOf = (realm: Realm): number => {
    let id = binders.get(realm);
    if (id === undefined) {
      forgetClosed();
      id = ++last;
      router.register.applySync(undefined, [id, realm.streamBinder().derefInto()], within);
      binders.set(realm, id);
    }
    return id;
  };

  const forgetClosed = () => {
    for (const [realm, id] of binders) {
      if (realm.isClosed) {
        binders.delete(realm);
        scheduler.add(toQueued(["~", id]));
      }
    }
  };

  return {
    open(hooks) {
      const parts = hooks.flatMap(({ realm, context, lazyMembers }) => [
        binderOf(realm),
        context,
        lazyMembers.join("\t"),
      ]);
      const run = ++last;
      openRuns++;
      beginnings.set(run, ["+", run, hooks.length, ...parts]);
      return run;
    },
    close(run) {
      openRuns--;
      if (!beginnings.delete(run)) {
        scheduler.add(toQueued(["-", run]));
      }
    },
    push: (run, listener, chunks, maxDelayMs) =>
      new Promise((done) => {
        const beginning = beginnings.get(run) ?? [];
        beginnings.delete(run);
        const message = [...beginning, "=", run, chunks.length, ...chunks];
        scheduler.add(toQueued(message, { run, listener, chunks, done }));
        waitingBatches++;
        scheduler.schedule({ flushNow: waitingBatches >= openRuns, maxDelayMs });
      }),
  };
}

function toQueued(message: Copied, batch?: Batch): Queued {
  const length = message.reduce<number>((sum, part) => sum + (typeof part === "string" ? part.length : 1), 0);
  return { message, length, batch };
}

function openRouter(isolate: ivm.Isolate): Router {
  const context = isolate.createContextSync();
  const entries = context.evalClosureSync(streamRouter, [], { result: { reference: true } }) as ivm.Reference;
  const get = (name: string) => entries.getSync(name, { reference: true }) as ivm.Reference;
  return {
    cross: get("cross"),
    register: get("register"),
    resume: get("resume"),
    retry: get("retry"),
    where: get("where"),
  };
}
