import { redactText } from "./log.ts";

/** A request that ended with a status from 500 on. */
export interface RecentError {
  /** Id of the request, as its answer and the log name it. */
  readonly request_id: string;
  /** Epoch seconds. */
  readonly at: number;
  readonly plugin: string;
  readonly method: string;
  /** As it is declared: what stood in its named segments is left out. */
  readonly path: string;
  readonly status: number;
  /** The message that the caller got. */
  readonly answer: string;
  /** The cause with its stack, for failures of the platform itself. */
  readonly cause: string | null;
}

/** The last failures of this process, newest first. */
export interface RecentErrors {
  record(error: Omit<RecentError, "at">): void;
  list(): readonly RecentError[];
}

const most = 200;
const longestText = 4000;

/** Keeps a bounded number of failures; secrets are masked as in the log. */
export function createRecentErrors(): RecentErrors {
  const kept: RecentError[] = [];
  const clean = (text: string) => redactText(text).slice(0, longestText);
  return {
    record({ answer, cause, ...error }) {
      kept.unshift({
        ...error,
        at: Math.floor(Date.now() / 1000),
        answer: clean(answer),
        cause: cause === null ? null : clean(cause),
      });
      kept.length = Math.min(kept.length, most);
    },
    list: () => kept,
  };
}
