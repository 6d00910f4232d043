/** `auto`: calls run. `ask`: the person is asked first. `deny`: no call runs (contract D.22). */
export type ApprovalPolicy = "auto" | "ask" | "deny";

/** What is shown of a call that needs an approval. */
export interface ApprovalState {
  /** `expired`: nobody answered in time; `unreachable`: nobody was there to ask; `cancelled`: the run ended first. */
  readonly status: "pending" | "allowed" | "denied" | "expired" | "unreachable" | "cancelled";
  /** True when the person decided for all calls of this tool. */
  readonly always?: boolean;
  /** Epoch seconds until which a pending one waits. */
  readonly expires_at?: number;
  /** There when the person decided for all calls, and the tool has changed since: its descriptions then and now. */
  readonly changed?: { readonly before: string; readonly now: string };
}
