import { setTimeout as pause } from "node:timers/promises";
import { collect, observeServers } from "./collect.ts";

// A suite that leaves servers, processes, databases or files behind fails. Suites share workers, and with them this state.

interface LeakState {
  /** What was there when the suite began, or was reported already. */
  known: ReadonlySet<unknown>;
  /** What suites share on purpose until the worker ends. */
  readonly shared: Set<unknown>;
}

const { leakState: state } = globalThis as typeof globalThis & { leakState?: LeakState };
const leaks: LeakState = state ?? begin();

function begin(): LeakState {
  observeServers();
  const fresh = { known: new Set(), shared: new Set() };
  Object.assign(globalThis, { leakState: fresh });
  return fresh;
}

/** Makes what the suites of a worker share: all that is new after `create` may stay until the worker ends. */
export async function shareInWorker<T>(create: () => Promise<T>): Promise<T> {
  const before = collect();
  const made = await create();
  for (const thing of collect().keys()) {
    if (!before.has(thing)) {
      leaks.shared.add(thing);
    }
  }
  return made;
}

/** Remembers what is there when a suite begins. */
export function beginSuite(): void {
  leaks.known = new Set(collect().keys());
}

/** Throws when the suite that ends leaves something behind. Processes and servers get a while to end. */
export async function expectNothingLeft(): Promise<void> {
  let left = findLeft();
  for (let waited = 0; left.size > 0 && waited < patienceMs; waited += stepMs) {
    await pause(stepMs);
    left = findLeft();
  }
  if (left.size > 0) {
    throw new Error(
      `This suite left behind:\n${[...left.values()].map((name) => `- ${name}`).join("\n")}\nClose it in afterAll, or make it in shareInWorker() when suites share it.`,
    );
  }
}

const patienceMs = 5_000;
const stepMs = 50;

/** Things that are new since the suite began, with their names. */
export function findLeft(): Map<unknown, string> {
  return new Map(
    [...collect(leaks.shared)].filter(([thing]) => !leaks.known.has(thing) && !leaks.shared.has(thing)),
  );
}
