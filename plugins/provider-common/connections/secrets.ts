import type { ConnectionConfig } from "./connection.ts";
import { type Place, unmask } from "#kernel/upstream/endpoint-form.ts";
import { isSecretHeader, maskKey } from "#kernel/upstream/mask.ts";

/** The three parallel settings as they are stored. */
export interface StoredConnections {
  readonly urls: readonly string[];
  readonly keys: readonly string[];
  /** By index. */
  readonly configs: Readonly<Record<string, ConnectionConfig>>;
}

/** The settings as an admin sees them: one key and one entry a URL, secrets masked. Promise S107. */
export function showConfig({ urls, keys, configs }: StoredConnections) {
  const shown = urls.flatMap((_url, index) => {
    const config = configs[index];
    return config ? [[String(index), maskConfig(config)] as const] : [];
  });
  return {
    OPENAI_API_BASE_URLS: [...urls],
    OPENAI_API_KEYS: urls.map((_url, index) => maskKey(keys[index] ?? "")),
    OPENAI_API_CONFIGS: Object.fromEntries(shown),
  };
}

/**
 * The key that was meant: what was sent, or the stored one when its mask was sent back. Throws `invalid` when no
 * stored key of the same URL has that mask, so that a key never moves to another address unseen.
 */
export function unmaskKey(given: string, place: Place, stored: StoredConnections): string {
  return unmask(given, place, { urls: stored.urls, read: (index) => stored.keys[index] });
}

/** Like `unmaskKey`, for the key and the secret headers inside one connection's settings. */
export function unmaskConfig(
  config: ConnectionConfig,
  place: Place,
  stored: StoredConnections,
): ConnectionConfig {
  const result: ConnectionConfig = { ...config };
  const { urls, configs } = stored;
  if (config.key) {
    result.key = unmask(config.key, place, { urls, read: (index) => configs[index]?.key });
  }
  if (config.headers) {
    result.headers = Object.fromEntries(
      Object.entries(config.headers).map(([name, value]) => [
        name,
        isSecretHeader(name)
          ? unmask(value, place, { urls, read: (index) => (configs[index]?.headers || {})[name] })
          : value,
      ]),
    );
  }
  return result;
}

function maskConfig(config: ConnectionConfig): ConnectionConfig {
  const result: ConnectionConfig = { ...config };
  if (config.key) {
    result.key = maskKey(config.key);
  }
  if (config.headers) {
    result.headers = Object.fromEntries(
      Object.entries(config.headers).map(([name, value]) => [
        name,
        isSecretHeader(name) ? maskKey(value) : value,
      ]),
    );
  }
  return result;
}
