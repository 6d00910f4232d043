import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { outbox, type OutboxEntry } from "./outbox.ts";

/** A proxy before a server that is away answers with these, and so does a server that will take it later. */
const firstAwayStatus = 502;
const conflictTries = 5;
const pauseMs = 1000;
/** A connection that is stuck counts as none: the server answers a chat's request at once. */
const longestMs = 30_000;

interface Delivering {
  /** Stores what is tried. */
  keep?(entry: OutboxEntry): void;
  /** Ends the try. */
  readonly signal?: AbortSignal;
}

/**
 * Sends an entry, which then leaves the outbox. Resolves to the id of its chat, if the server told it; rejects with
 * `ApiError` when the server refused it, and with another error when it did not reach the server.
 */
export async function deliver(
  entry: OutboxEntry,
  { keep = (sent) => outbox.put(sent), signal }: Delivering = {},
): Promise<string | undefined> {
  for (let left = conflictTries; ; left -= 1) {
    await socket.connect();
    // Another page may have begun to send it.
    const known = outbox.of(entry.chat).find(({ key }) => key === entry.key) ?? entry;
    const wasTried = known.isTried === true || left < conflictTries;
    const sent = wasTried
      ? known
      : { ...known, isTried: true, body: { ...known.body, session_id: socket.id ?? "" } };
    keep(sent);
    try {
      const answer = await post(sent, signal);
      outbox.remove(entry.key);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      // A first try that is still being answered is a conflict.
      if (wasTried && error.status === 409 && left > 0) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
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
