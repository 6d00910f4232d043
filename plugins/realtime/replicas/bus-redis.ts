import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { Bus } from "./bus.ts";

export interface RedisBusOptions {
  /** redis:// or rediss:// address. */
  readonly url: string;
  readonly isCluster: boolean;
  /** `host` or `host:port` each; the address's host is then the name of the master. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  readonly channel: string;
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly checkEveryMs: number;
  readonly longestPauseMs: number;
  readonly keepAlive: boolean;
  /** Further options of the client, by its own names. */
  readonly more: Readonly<Record<string, unknown>>;
  log(message: string): void;
}

/** Opens a bus over Redis, one connection to send and one to listen. Rejects with a clear text when it does not answer. */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  const { channel, checkEveryMs, log } = options;
  const sender = connect(options);
  const listener = connect(options);
  const place = new URL(options.url).host;
  const state = { reason: "no answer", isDown: false, isClosed: false, isOpen: false };
  const close = () => {
    state.isClosed = true;
    clearInterval(check);
    sender.disconnect();
    listener.disconnect();
  };
  const report = () => {
    if (!state.isDown && !state.isClosed && state.isOpen) {
      state.isDown = true;
      log(`Redis at ${place} does not answer (${state.reason}); connecting again`);
    }
  };
  for (const client of [sender, listener]) {
    client.on("error", (error: Error) => (state.reason = error.message || "it cannot be reached"));
    client.on("close", report);
  }
  const probe = async (client: Redis | Cluster): Promise<void> => {
    if (client.status === "ready") {
      // A half-open connection gives no error by itself.
      await client.ping().catch(() => client instanceof Redis && client.disconnect(true));
    }
  };
  const check = setInterval(() => void Promise.all([probe(sender), probe(listener)]), checkEveryMs).unref();
  try {
    await Promise.all([sender, listener].map((client) => within(ready(client), options.connectTimeoutMs)));
    state.isOpen = true;
  } catch {
    close();
    throw new Error(`Redis at ${place} does not answer (${state.reason})`);
  }
  return {
    async send(text) {
      await sender.publish(channel, text);
    },
    async listen(handler, onGap) {
      listener.on("message", (_channel: string, text: string) => handler(text));
      await listener.subscribe(channel);
      listener.on("ready", () => {
        // Subscribed again first: what the others answer to a newcomer must arrive.
        listener.subscribe(channel).then(
          () => {
            state.isDown = false;
            log(`Redis at ${place} answers again`);
            onGap();
          },
          () => {},
        );
      });
    },
    async ping() {
      await sender.ping();
    },
    async close() {
      close();
    },
  };
}

function connect({ url, isCluster, sentinels, ...options }: RedisBusOptions): Redis | Cluster {
  const common: RedisOptions = {
    connectTimeout: options.connectTimeoutMs,
    commandTimeout: options.commandTimeoutMs,
    keepAlive: options.keepAlive ? 10_000 : 0,
    // The outbox retries in order; a queue inside the client would hide failures from it.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), options.longestPauseMs),
    ...options.more,
  };
  if (isCluster) {
    // The nodes' own queues stay: the client learns the cluster's layout through them.
    const { enableOfflineQueue: _own, maxRetriesPerRequest: _none, ...redisOptions } = common;
    const clusterRetryStrategy = common.retryStrategy as (times: number) => number;
    return new Cluster([url], { enableOfflineQueue: false, redisOptions, clusterRetryStrategy });
  }
  const { hostname, username, password, pathname } = new URL(url);
  if (sentinels.length === 0) {
    return new Redis(url, common);
  }
  return new Redis({
    ...common,
    sentinels: [...sentinels],
    name: hostname,
    db: Number(pathname.slice(1)) || 0,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  });
}

async function ready(client: Redis | Cluster): Promise<void> {
  if (client.status !== "ready") {
    await new Promise<void>((resolve) => client.once("ready", () => resolve()));
  }
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("too late")), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
