/** What a sign-in waits for, as the server tells it. */
export interface NextStep {
  readonly next_step: "enroll" | "verify" | "recover" | "pending" | "password";
  /** Left out after a redirect: a cookie that only the server reads keeps it. */
  readonly challenge_token?: string;
  /** Lets the person choose an own password. */
  readonly invitation?: string;
  readonly methods?: readonly string[];
}

/** The next step in the answer of a sign-in; undefined for a session. */
export function toNextStep(answer: unknown): NextStep | undefined {
  const step = answer as Partial<NextStep> | undefined;
  return step?.next_step ? (step as NextStep) : undefined;
}
