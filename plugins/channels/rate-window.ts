import { AppError } from "#kernel/errors.ts";

const windowMs = 60_000;
/** Subjects that are remembered; beyond it the oldest window goes. */
const mostSubjects = 10_000;

/** Counts events of subjects, such as addresses, within a minute of this process. */
export interface RateWindow {
  /** Throws `rate_limited` when the subject has as many as it may. */
  require(subject: string): void;
  count(subject: string): void;
}

/** Builds a window that lets `most` events of a subject through each minute. */
export function createRateWindow(most: number): RateWindow {
  const windows = new Map<string, { until: number; events: number }>();
  return {
    require(subject) {
      const window = windows.get(subject);
      const left = (window?.until ?? 0) - Date.now();
      if (window !== undefined && left > 0 && window.events >= most) {
        throw new AppError("rate_limited", "Too many requests. Wait a minute.", {
          retryAfter: Math.ceil(left / 1000),
        });
      }
    },
    count(subject) {
      const now = Date.now();
      const window = windows.get(subject);
      if (window !== undefined && window.until > now) {
        window.events += 1;
        return;
      }
      windows.delete(subject);
      if (windows.size >= mostSubjects) {
        windows.delete(windows.keys().next().value as string);
      }
      windows.set(subject, { until: now + windowMs, events: 1 });
    },
  };
}
