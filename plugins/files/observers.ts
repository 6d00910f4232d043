import type { Logger } from "#kernel/log.ts";
import type { FileObserver } from "./service.ts";

/** Tells observers one after another; one that fails is logged and keeps nothing from the others. */
export async function tellObservers(
  observers: readonly FileObserver[],
  log: Logger,
  tell: (observer: FileObserver) => Promise<void> | undefined,
): Promise<void> {
  for (const observer of observers) {
    try {
      await tell(observer);
    } catch (error) {
      log.warn({ err: error, observer: observer.id }, "an observer of files failed");
    }
  }
}
