import type { Reply } from "../reply/reply.ts";
import type { RunOutcome } from "./run-facts.ts";

/** Why a reply that did not fail is not whole: a person stopped it, it met the token limit, or nothing came. */
export type Ending = "stopped" | "length" | "empty";

/** Undefined for a reply that is whole, and for one that failed or waits to be continued. */
export function toEnding(
  reply: Pick<Reply, "output" | "state">,
  { error, stopped }: Pick<RunOutcome, "error" | "stopped">,
): Ending | undefined {
  if (stopped !== undefined) {
    return stopped === "stopped" ? "stopped" : undefined;
  }
  if (error !== undefined) {
    return undefined;
  }
  if (reply.output.finishReason === "length") {
    return "length";
  }
  const { content, files, embeds } = reply.state();
  const isEmpty =
    content === "" && reply.output.items.every(({ type }) => /^(?:message|reasoning)$/.test(type));
  return isEmpty && !files?.length && !embeds?.length ? "empty" : undefined;
}

/** What people read of a failure. */
export interface ShownError {
  readonly content: string;
  /** Epoch seconds from which it may be tried again. */
  readonly retry_at?: number;
}

export function toShownError({ error, retryAt, stopped }: RunOutcome): ShownError | undefined {
  const content = stopped === "interrupted" ? "interrupted" : error;
  return content === undefined ? undefined : { content, ...(retryAt !== undefined && { retry_at: retryAt }) };
}

export const isEndedByPerson = (stopped: RunOutcome["stopped"]): boolean =>
  stopped === "stopped" || stopped === "revoked";
