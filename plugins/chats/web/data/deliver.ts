import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { outbox, type OutboxEntry } from "./outbox.ts";

/** A proxy before a server that is away answers with these, and so does a server that will take it later. */
const firstAwayStatus = 502;
/** A connection that is stuck counts as none: the server answers a chat's request at once. */
const longestMs = 30_000;

interface Delivering {
  /** Stores what is tried; an error that it throws ends the try. */
  keep?(entry: OutboxEntry): void;
  /** Called when the server has the request from an earlier try, and works on its answer. */
  onheld?(): void;
  /** Ends the try. */
  readonly signal?: AbortSignal;
}

/**
 * Sends an entry, which then leaves the outbox. Resolves to the id of its chat, if the server told it; rejects with
 * `ApiError` when the server refused it, and with another error when it did not reach the server.
 */
export async function deliver(
  entry: OutboxEntry,
  { keep = (sent) => outbox.put(sent), onheld, signal }: Delivering = {},
): Promise<string | undefined> {
  if (session.viewRefusal !== undefined) {
    throw new ApiError(403, { detail: session.viewRefusal });
  }
  await socket.connect();
  // Another page may have begun to send it.
  const known = outbox.of(entry.chat).find(({ key }) => key === entry.key) ?? entry;
  const sent = known.isTried
    ? known
    : { ...known, isTried: true, body: { ...known.body, session_id: socket.id ?? "" } };
  keep(sent);
  for (;;) {
    try {
      const answer = await post(sent, signal);
      outbox.remove(entry.key);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      // An earlier try with the same key is being answered: the next one gets that answer.
      if (error.status === 409 && error.retryAfter !== undefined) {
        onheld?.();
        await pause(error.retryAfter);
        continue;
      }
      if (isAway(error)) {
        throw new Error(error.message, { cause: error });
      }
      outbox.remove(entry.key);
      throw error;
    }
  }
}

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Whether a proxy answered in the server's place, or the server for a moment that passes. */
function isAway({ status, body, retryAfter }: ApiError): boolean {
  const isOwn = typeof body === "object" && body !== null && "detail" in body;
  return status >= firstAwayStatus && (!isOwn || retryAfter !== undefined);
}

async function post({ key, body }: OutboxEntry, signal?: AbortSignal): Promise<string | undefined> {
  const headers = { "idempotency-key": key };
  const limit = AbortSignal.timeout(longestMs);
  const answer = await server.call("POST /api/chat/completions", {
    headers,
    body: body as never,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  return (answer as { chat_id?: string } | null)?.chat_id;
}
