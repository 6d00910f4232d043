import { type Place, unmask } from "#kernel/upstream/endpoint-form.ts";
import { isSecretHeader, maskKey } from "#kernel/upstream/mask.ts";
import { toPlainUrl } from "#kernel/upstream/endpoint.ts";
import type { StoredServer } from "./schema.ts";

/** The server as an administrator sees it: its key and secret headers masked. Promise S107. */
export function maskServer(server: StoredServer): StoredServer {
  return mapSecrets(server, (secret) => maskKey(secret));
}

/**
 * The server with the secrets that were meant: what was sent, or the stored ones where their masks were sent back.
 * Throws `invalid` when no stored server of the same address has such a secret.
 */
export function unmaskServer(
  given: StoredServer,
  stored: readonly StoredServer[],
  index?: number,
): StoredServer {
  const urls = stored.map(({ url }) => url ?? "");
  const place: Place = { url: toPlainUrl(given.url ?? ""), index };
  return mapSecrets(given, (secret, read) => unmask(secret, place, { urls, read: (at) => read(stored[at]) }));
}

type Read = (server: StoredServer | undefined) => string | null | undefined;

function mapSecrets(server: StoredServer, change: (secret: string, read: Read) => string): StoredServer {
  const result: StoredServer = { ...server };
  if (server.key) {
    result.key = change(server.key, (other) => other?.key);
  }
  if (server.headers) {
    result.headers = Object.fromEntries(
      Object.entries(server.headers).map(([name, value]) => [
        name,
        isSecretHeader(name) ? change(value, (other) => (other?.headers || {})[name]) : value,
      ]),
    );
  }
  return result;
}
