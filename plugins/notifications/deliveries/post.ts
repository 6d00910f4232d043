import type { EventEnvelope } from "#kernel/event-envelope.ts";
import { AppError } from "#kernel/errors.ts";
import type { Egress, Trust } from "#kernel/egress/egress.ts";
import { signWebhook } from "#kernel/webhook-signature.ts";
import type { Form } from "../tables.ts";
import { toBody, toForm } from "./forms.ts";

/** Milliseconds within which an address has to answer. */
const answerMs = 15_000;

/** An address with everything that a post to it needs. */
export interface Address {
  readonly url: string;
  readonly form: Form;
  readonly trust: Trust;
  /** Further origins that may be private, as "scheme://host:port". */
  readonly allowedOrigins?: readonly string[];
  /** Milliseconds within which it has to answer; 15,000 when left out. */
  readonly timeoutMs?: number;
  /** Without one the post is not signed. */
  readonly secret?: string | undefined;
}

export type Outcome =
  | { readonly kind: "delivered"; readonly status: number }
  /** `again`: a later try may go through. */
  | {
      readonly kind: "refused";
      readonly status: number | null;
      readonly error: string;
      readonly again: boolean;
    };

/** Posts one event to one address; never throws, except when `signal` aborts. */
export async function post(
  egress: Pick<Egress, "fetch">,
  address: Address,
  {
    id,
    envelope,
    signal,
  }: { readonly id: string; readonly envelope: EventEnvelope; readonly signal: AbortSignal },
): Promise<Outcome> {
  try {
    const url = new URL(address.url);
    const body = toBody(envelope, toForm(address.form, url));
    const answer = await egress.fetch(url, {
      trust: address.trust,
      allowedOrigins: address.allowedOrigins ?? [],
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(address.secret !== undefined && signWebhook(body, { id, secret: address.secret })),
      },
      body,
      signal,
      timeoutMs: address.timeoutMs ?? answerMs,
      // A redirect of a post would send the event to somebody nobody named.
      redirects: false,
      onRedirect() {
        throw new AppError("forbidden", "The address redirects. Name the address where it leads.");
      },
    });
    await answer.body?.cancel();
    const { status } = answer;
    return answer.ok
      ? { kind: "delivered", status }
      : { kind: "refused", status, error: `The address answered ${status}.`, again: isPassing(status) };
  } catch (error) {
    signal.throwIfAborted();
    const known = error instanceof AppError ? error : undefined;
    return {
      kind: "refused",
      status: null,
      error: known?.message ?? "The address could not be reached.",
      again: known?.code !== "forbidden" && known?.code !== "invalid",
    };
  }
}

/** True for answers that mean "later": limits, timeouts, and faults of the other side. */
function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
