import { AppError } from "#kernel/errors.ts";

/** Why the server ends a connection: the code and reason of the WebSocket's close frame. */
export const closing = {
  /** The client said goodbye. */
  left: { code: 1000, reason: "Goodbye" },
  /** The server stops: connect again at once. */
  stopping: { code: 1012, reason: "The server restarts" },
  /** Authentication is not available just now: connect again later. */
  unavailable: { code: 1013, reason: "Try again later" },
  /** No credential in time, a bad one, or one that was taken back: sign in again. */
  unauthenticated: { code: 4001, reason: "Not authenticated" },
  /** A frame that is no frame of the protocol. */
  malformed: { code: 4002, reason: "Malformed frame" },
  /** A pending account, or a key that may not be used for this. */
  forbidden: { code: 4003, reason: "This account or key may not connect" },
  /** No sign of life: connect again. */
  silent: { code: 4008, reason: "No sign of life" },
  /** The reader takes less than comes: connect again and ask for what is missing. */
  slow: { code: 4013, reason: "Too slow to read" },
  /** More connections than one account may have. */
  crowded: { code: 4029, reason: "Too many connections" },
} as const;

export type Closing = (typeof closing)[keyof typeof closing];

/** True when the client has to change something before it connects again. */
export function isFinal(why: Closing): boolean {
  return why === closing.unauthenticated || why === closing.forbidden || why === closing.malformed;
}

/** The close reason for a failed authentication. */
export function toClosing(error: unknown): Closing {
  const code = error instanceof AppError ? error.code : "unavailable";
  const known: Partial<Record<typeof code, Closing>> = {
    unauthenticated: closing.unauthenticated,
    forbidden: closing.forbidden,
    rate_limited: closing.crowded,
  };
  return known[code] ?? closing.unavailable;
}
