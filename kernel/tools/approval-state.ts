/**
 * `auto`: calls run. `ask-after-untrusted`: tools that act ask once text that nobody of the run wrote has entered it.
 * `ask`: the person is asked first. `deny`: no call runs (contract D.22). From the mildest to the strictest.
 */
export const approvalPolicies = ["auto", "ask-after-untrusted", "ask", "deny"] as const;

export type ApprovalPolicy = (typeof approvalPolicies)[number];

/** What is shown of a call that needs an approval. */
export interface ApprovalState {
  /** `expired`: nobody answered in time; `unreachable`: nobody was there to ask; `cancelled`: the run ended first. */
  readonly status: "pending" | "allowed" | "denied" | "expired" | "unreachable" | "cancelled";
  /** True when the person decided for all calls of this tool. */
  readonly always?: boolean;
  /** Epoch seconds until which a pending one waits. */
  readonly expires_at?: number;
  /** Where the foreign text came from that made the call ask. */
  readonly foreign?: string;
  /** There when the person decided for all calls, and the tool has changed since: its descriptions then and now. */
  readonly changed?: { readonly before: string; readonly now: string };
}
