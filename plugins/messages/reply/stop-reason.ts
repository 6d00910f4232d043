/** How a reply ended at the upstream. */
export interface Ending {
  readonly finishReason: string | null | undefined;
  readonly hasToolCalls: boolean;
  /** The sequence that stopped the model, where the upstream names it. */
  readonly stoppedBy?: unknown;
  /** The sequences that the request named. */
  readonly stops: readonly string[];
  /** The words in which the model refused; empty where it did not. */
  readonly refusal: string;
}

export interface StopFacts {
  readonly stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
  readonly stop_sequence: string | null;
  readonly stop_details?: {
    readonly type: "refusal";
    readonly category: null;
    readonly explanation: string | null;
  };
}

/**
 * Why the reply ended, in the vendor's words. Contract D.25 and D.35: a limit wins over calls, and calls over whatever
 * else the upstream says; no reason is the end of the turn.
 */
export function toStop({ finishReason, hasToolCalls, stoppedBy, stops, refusal }: Ending): StopFacts {
  if (finishReason === "length") {
    return { stop_reason: "max_tokens", stop_sequence: null };
  }
  if (finishReason === "content_filter" || (refusal !== "" && !hasToolCalls)) {
    const explanation = refusal === "" ? null : refusal;
    const stop_details = { type: "refusal", category: null, explanation } as const;
    return { stop_reason: "refusal", stop_sequence: null, stop_details };
  }
  if (hasToolCalls) {
    return { stop_reason: "tool_use", stop_sequence: null };
  }
  return typeof stoppedBy === "string" && stops.includes(stoppedBy)
    ? { stop_reason: "stop_sequence", stop_sequence: stoppedBy }
    : { stop_reason: "end_turn", stop_sequence: null };
}
