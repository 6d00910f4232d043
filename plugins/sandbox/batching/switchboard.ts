import type ivm from "isolated-vm";
import { applyCopied } from "./copied-lists.ts";
import { Departures, type Fare } from "./departures.ts";
import { switchboard } from "../host/inside.ts";
import { limits } from "../limits.ts";
import type { Realm } from "../host/realm.ts";
import { SandboxError } from "#kernel/sandbox.ts";
import { threadMs } from "../host/thread-time.ts";

/** The hooks of one run, as the switchboard knows them. */
export interface Passenger {
  /** Hooks that failed by themselves, `place:report` each, apart by tabs; no place means all. */
  told(failures: string): void;
  /** The hook at `place` took too long, or broke the isolate. */
  broke(place: number, error: unknown, heldMs: number): void;
  failAll(error: SandboxError): void;
}

/** Hands batches of runs to their hooks in an isolate. */
export interface Switchboard {
  /**
   * Begins a run: a realm and a context, as JSON, for each hook, and the names of what it may ask for later. Answers its
   * number; throws what the isolate throws.
   */
  open(
    hooks: readonly { readonly realm: Realm; readonly context: string; readonly later: readonly string[] }[],
  ): number;
  /** Ends a run. */
  close(id: number): void;
  /**
   * The batch as the hooks left it. What waits crosses the border together (`departures.ts`), this one at most `everyMs`
   * after the last crossing.
   */
  push(id: number, passenger: Passenger, batch: string, everyMs: number): Promise<string>;
}

/** What crosses in its turn: a batch, or the end of something. */
interface Line extends Fare {
  readonly text: string;
  readonly waiting: Waiting | undefined;
}

interface Waiting {
  readonly id: number;
  readonly passenger: Passenger;
  readonly batch: string;
  done(answer: string): void;
}

type Ways = Record<"cross" | "register" | "resume" | "retry" | "where", ivm.Reference>;

const boards = new WeakMap<ivm.Isolate, Switchboard>();

/** The switchboard of an isolate; its context is made at the first use. */
export function switchboardOf(isolate: ivm.Isolate): Switchboard {
  let board = boards.get(isolate);
  if (board === undefined) {
    board = createSwitchboard(isolate);
    boards.set(isolate, board);
  }
  return board;
}

const within = { timeout: limits.streamMs };

function createSwitchboard(isolate: ivm.Isolate): Switchboard {
  const ways = openWays(isolate);
  const realms = new Map<Realm, number>();
  /** Runs that nothing of has crossed: their beginnings go with their first batches. */
  const beginnings = new Map<number, string>();
  /** Runs that are open, and batches that wait to cross. */
  let [runs, batches] = [0, 0];
  const departures = new Departures<Line>((some) => {
    batches -= some.filter(({ waiting }) => waiting).length;
    cross(ways, some);
  });
  let last = 0;

  const numberOf = (realm: Realm): number => {
    let id = realms.get(realm);
    if (id === undefined) {
      forgetClosed();
      id = ++last;
      const functions = realm.streamWays().map((way) => way.derefInto());
      ways.register.applySync(undefined, [id, ...functions], within);
      realms.set(realm, id);
    }
    return id;
  };

  const forgetClosed = () => {
    for (const [realm, id] of realms) {
      if (realm.isClosed) {
        realms.delete(realm);
        departures.add(toLine(`~${id}`));
      }
    }
  };

  return {
    open(hooks) {
      const numbers = hooks.map(({ realm }) => numberOf(realm));
      const id = ++last;
      const contexts = hooks.map(({ context, later }) => [context, ...later].join("\t"));
      runs++;
      beginnings.set(id, [`+${id} ${numbers.join(" ")}`, ...contexts, ""].join("\n"));
      return id;
    },
    close(id) {
      runs--;
      if (!beginnings.delete(id)) {
        departures.add(toLine(`-${id}`));
      }
    },
    push: (id, passenger, batch, everyMs) =>
      new Promise((done) => {
        const beginning = beginnings.get(id) ?? "";
        beginnings.delete(id);
        departures.add(toLine(`${beginning}=${id}\n${batch}`, { id, passenger, batch, done }));
        batches++;
        departures.hurry(batches >= runs, everyMs);
      }),
  };
}

function toLine(text: string, waiting?: Waiting): Line {
  return { text, length: text.length, waiting };
}

function openWays(isolate: ivm.Isolate): Ways {
  const context = isolate.createContextSync();
  const bridge = context.evalClosureSync(switchboard, [], { result: { reference: true } }) as ivm.Reference;
  const way = (name: string) => bridge.getSync(name, { reference: true }) as ivm.Reference;
  return {
    cross: way("cross"),
    register: way("register"),
    resume: way("resume"),
    retry: way("retry"),
    where: way("where"),
  };
}

/** Crosses once; on an overrun that hook is out and everything else goes on with the last good value. */
function cross(ways: Ways, lines: readonly Line[]): void {
  const all = lines.map(({ waiting }) => waiting).filter((waiting) => waiting !== undefined);
  let way = ways.cross;
  let texts: readonly string[] | undefined = [lines.map(({ text }) => text).join("\n")];
  let hasRetried = false;
  let stoppedAt = "";
  let through = 0;
  // Each round gets further than the one before, or is the last.
  for (;;) {
    const before = threadMs();
    try {
      deliver(all, String(applyCopied(way, texts, limits.streamMs)[0]).split("\n"));
      return;
    } catch (error) {
      texts = undefined;
      // A busy machine took the time, not the hook.
      const heldMs = threadMs() - before;
      if (!hasRetried && isTimeout(error) && heldMs < limits.streamMs / 2) {
        hasRetried = true;
        way = ways.retry;
        continue;
      }
      const at = isTimeout(error) ? findPlace(ways) : "";
      const [run, place, , count] = at.split(":");
      if (Number(count) > through && heldMs <= limits.heldMs) {
        // Batches before this one took of its time: it gets a whole one.
        through = Number(count);
        way = ways.retry;
        continue;
      }
      const found = all.find(({ id }) => id === Number(run));
      if (!found || at === stoppedAt) {
        giveUp(all, error, heldMs);
        return;
      }
      stoppedAt = at;
      if (place === "") {
        found.passenger.failAll(tooSlow());
      } else {
        found.passenger.broke(Number(place), error, heldMs);
      }
      way = ways.resume;
    }
  }
}

/** Two lines for each batch: what failed on it, and what became of it. */
function deliver(all: readonly Waiting[], lines: readonly string[]): void {
  for (const [at, { batch, passenger, done }] of all.entries()) {
    const failures = lines[2 * at];
    if (failures) {
      passenger.told(failures);
    }
    done(lines[2 * at + 1] ?? batch);
  }
}

/** The isolate itself failed, or nothing gets on in it: all who are in it go on without their hooks. */
function giveUp(all: readonly Waiting[], error: unknown, heldMs: number): void {
  for (const { passenger, batch, done } of all) {
    if (!isTimeout(error)) {
      passenger.broke(0, error, heldMs);
    }
    passenger.failAll(tooSlow());
    done(batch);
  }
}

function tooSlow(): SandboxError {
  return new SandboxError("timeout", "What the stream hooks were given took too long to read.");
}

/**
 * Where the crossing was broken off, `run:hook:line:batches`, the last of which are through. No hook means that none of
 * them ran, no run that it says nothing.
 */
function findPlace(ways: Ways): string {
  try {
    return String(ways.where.applySync(undefined, [], within));
  } catch {
    return "";
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Script execution timed out.";
}
