/** How a reply ended, as the upstream told it. */
export interface Ending {
  readonly finishReason: string | null | undefined;
  readonly hasToolCalls: boolean;
  /** What some upstreams tell besides: the sequence that stopped them. */
  readonly stoppedBy?: unknown;
  /** The sequences that the request named. */
  readonly stops: readonly string[];
}

export interface StopFacts {
  readonly stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
  readonly stop_sequence: string | null;
}

/** Contract D.25: calls count whatever the upstream says, and no reason is the end of the turn. */
export function toStop({ finishReason, hasToolCalls, stoppedBy, stops }: Ending): StopFacts {
  if (hasToolCalls) {
    return { stop_reason: "tool_use", stop_sequence: null };
  }
  if (typeof stoppedBy === "string" && stops.includes(stoppedBy)) {
    return { stop_reason: "stop_sequence", stop_sequence: stoppedBy };
  }
  const stop_reason =
    finishReason === "length" ? "max_tokens" : finishReason === "content_filter" ? "refusal" : "end_turn";
  return { stop_reason, stop_sequence: null };
}
