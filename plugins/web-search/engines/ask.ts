import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { WebSettings } from "../config.ts";

export interface EngineParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: WebSettings;
}

/** One request to a service that an administrator set up. */
export interface ServiceCall {
  /** The service's name, for people. */
  readonly title: string;
  readonly url: string | URL;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const mostBytes = 8 * 1024 * 1024;

/**
 * The JSON that a service answers. Its address comes from an administrator, so it may be private (contract D.15).
 * Failures are AppErrors whose sentence names the service and says what to look at, never a key.
 */
export async function askService(egress: Pick<Egress, "fetch">, call: ServiceCall): Promise<unknown> {
  const { title, url, method = "GET", headers = {}, body, timeoutMs, signal } = call;
  const response = await egress
    .fetch(url, {
      trust: "operator",
      method,
      headers: { accept: "application/json", ...headers },
      ...(body && { body }),
      timeoutMs,
      signal,
      maxBytes: mostBytes,
    })
    .catch((error: unknown) => {
      throw toNamed(title, error);
    });
  if (!response.ok) {
    await response.body?.cancel().catch(() => {});
    throw toRefusal(title, response);
  }
  const answer = await response.text().catch((error: unknown) => {
    throw toNamed(title, error);
  });
  try {
    return JSON.parse(answer);
  } catch (cause) {
    throw new AppError(
      "upstream",
      `${title} answered with something other than JSON. Is its address right?`,
      {
        cause,
      },
    );
  }
}

function toRefusal(title: string, { status, headers }: Response): AppError {
  if (status === 401 || status === 403) {
    return new AppError("upstream", `${title} refused the request (${status}). Is its key right?`);
  }
  if (status === 429) {
    const wait = Number(headers.get("retry-after"));
    const retryAfter = Number.isFinite(wait) && wait > 0 ? Math.ceil(wait) : undefined;
    const when = retryAfter === undefined ? "" : ` It says to wait ${retryAfter} s.`;
    return new AppError("rate_limited", `${title} was asked too often.${when}`, {
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
  if (status === 402) {
    return new AppError("upstream", `${title} asks for a payment (402).`);
  }
  return new AppError("upstream", `${title} answered with status ${status}.`);
}

/** A failure of the connection in words that name the service; the caller's own abort stays as it is. */
function toNamed(title: string, error: unknown): unknown {
  if (!(error instanceof AppError)) {
    return error;
  }
  return new AppError(error.code, `${title}: ${error.message}`, { cause: error });
}
