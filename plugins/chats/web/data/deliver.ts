import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { outbox, type OutboxEntry } from "./outbox.ts";

/** A proxy before a server that is away answers with these. */
const awayStatuses = [502, 503, 504];
const tries = 5;
const pauseMs = 1000;

/**
 * Sends an entry, which then leaves the outbox. Resolves to the id of its chat, if the server told it; rejects with
 * `ApiError` when the server refused it, and with another error while the server is away. `keep` stores what is tried.
 */
export async function deliver(
  entry: OutboxEntry,
  keep: (entry: OutboxEntry) => void = (sent) => outbox.put(sent),
): Promise<string | undefined> {
  let sent = entry;
  for (let left = tries; ; left -= 1) {
    await socket.connect();
    // Another page may have begun to send it.
    const known = outbox.of(entry.chat).find(({ key }) => key === entry.key) ?? sent;
    const wasTried = known.isTried === true;
    sent = wasTried
      ? known
      : { ...known, isTried: true, body: { ...known.body, session_id: socket.id ?? "" } };
    keep(sent);
    try {
      const answer = await post(sent);
      outbox.remove(entry.key);
      return answer;
    } catch (error) {
      // A first try that is still being answered is a conflict.
      const isEarly =
        error instanceof ApiError &&
        (awayStatuses.includes(error.status) || (wasTried && error.status === 409));
      if (!isEarly || left === 0) {
        if (error instanceof ApiError) {
          outbox.remove(entry.key);
        }
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function post({ key, body }: OutboxEntry): Promise<string | undefined> {
  const headers = { "idempotency-key": key };
  const answer = await server.call("POST /api/chat/completions", { headers, body: body as never });
  return (answer as { chat_id?: string } | null)?.chat_id;
}
