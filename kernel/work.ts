import { channel } from "node:diagnostics_channel";

/** Stages of a completion, in their order. */
export type StageName = "admit" | "inlet" | "tools" | "provider" | "stream" | "outlet" | "persist";

/** Something that the platform does and that takes time. Spans and measures are made of it. */
export interface Work {
  readonly kind: "request" | "stage" | "upstream" | "job";
  /** One of few: a route, a stage, the origin of an upstream, the id of a job. */
  readonly name: string;
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** HTTP status of the answer. */
  status?: number;
  /** Work whose place in a trace this one takes over. */
  readonly after?: Work | undefined;
  /** Set when it fails. */
  error?: unknown;
}

/** Told of work that begins; its stores hold while the work runs. Without subscribers nothing is made. */
export const workBegan = channel("millrace:work:began");
/** Told of the same object when the work is over. */
export const workEnded = channel("millrace:work:ended");
/** Told of every line of the log, as JSON text without secrets. */
export const lineLogged = channel("millrace:log");

/** Runs work that is watched while telemetry is on; else it is called as it is. */
export function watched<T>(
  toWork: () => Work,
  run: () => Promise<T>,
  toStatus?: (result: T) => number,
): Promise<T> {
  return workBegan.hasSubscribers ? watch(toWork(), run, toStatus) : run();
}

/** Runs one stage of a completion. */
export function inStage<T>(name: StageName, run: () => Promise<T>): Promise<T> {
  return workBegan.hasSubscribers ? watch({ kind: "stage", name }, run) : run();
}

/** Begins a stage whose end is known elsewhere; undefined while nothing is watched. */
export function beginStage(name: StageName, about: Pick<Work, "after" | "facts"> = {}): Work | undefined {
  if (!workBegan.hasSubscribers) {
    return undefined;
  }
  const work: Work = { kind: "stage", name, ...about };
  workBegan.publish(work);
  return work;
}

export function endStage(work: Work | undefined, error?: unknown): void {
  if (work !== undefined) {
    work.error = error;
    workEnded.publish(work);
  }
}

async function watch<T>(work: Work, run: () => Promise<T>, toStatus?: (result: T) => number): Promise<T> {
  try {
    const result = await workBegan.runStores(work, run);
    if (toStatus) {
      work.status = toStatus(result);
    }
    return result;
  } catch (error) {
    work.error = error;
    throw error;
  } finally {
    workEnded.publish(work);
  }
}
