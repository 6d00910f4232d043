import type { Logger } from "#kernel/log.ts";
import { BootError } from "#kernel/order.ts";
import type { Deployment, OpenLargeNotices } from "#kernel/services.ts";
import type { RealtimeConfig } from "../config.ts";
import type { Bus } from "./bus.ts";
import { alone, joinReplicas, type Replicas } from "./replicas.ts";

export interface ReplicasParts {
  readonly config: RealtimeConfig;
  readonly deployment: Pick<Deployment, "database" | "databaseId">;
  readonly largeNotices: OpenLargeNotices;
  readonly log: Logger;
}

const channel = "sockets";

/**
 * Joins the other replicas: over Redis when one is named, else over the database. The embedded database belongs to one
 * process. Throws BootError when Redis does not answer.
 */
export async function openReplicas(
  parts: ReplicasParts,
): Promise<{ replicas: Replicas; ping(): Promise<void> }> {
  const { config, deployment, largeNotices, log } = parts;
  const warn = (message: string) => log.warn(message);
  const url = config.socketRedisUrl || config.redisUrl;
  if (url === "" && config.socketManager === "redis") {
    throw new BootError(
      "WEBSOCKET_MANAGER is redis, but neither REDIS_URL nor WEBSOCKET_REDIS_URL names one.",
    );
  }
  if (url === "" && deployment.database === "embedded") {
    return { replicas: alone, ping: async () => {} };
  }
  const bus =
    url === ""
      ? overDatabase(largeNotices)
      : await overRedis(url, { config, databaseId: await deployment.databaseId(), log: warn });
  return { replicas: await joinReplicas({ bus, log: warn }), ping: () => bus.ping() };
}

function overDatabase(openLargeNotices: OpenLargeNotices): Bus {
  const { send, listen, close } = openLargeNotices(channel);
  return {
    send,
    listen,
    // The database itself is asked already.
    ping: async () => {},
    close: async () => close(),
  };
}

interface RedisParts {
  readonly config: RealtimeConfig;
  readonly databaseId: string;
  log(message: string): void;
}

async function overRedis(url: string, { config, databaseId, log }: RedisParts): Promise<Bus> {
  if (!/^rediss?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new BootError("REDIS_URL has to be an address such as redis://:password@host:6379/0.");
  }
  const sentinels = config.redisSentinelHosts.split(",").flatMap((entry) => {
    const [host = "", port] = entry.trim().split(":");
    return host === "" ? [] : [{ host, port: Number(port ?? config.redisSentinelPort) }];
  });
  try {
    // The client of Redis is loaded where there is one.
    const { openRedisBus } = await import("./bus-redis.ts");
    return await openRedisBus({
      url,
      sentinels,
      log,
      isCluster: config.socketRedisUrl === "" ? config.redisCluster : config.socketRedisCluster,
      // Deployments that share a Redis never meet, whatever their prefixes are.
      channel: `${config.redisPrefix}:${databaseId}:${channel}`,
      connectTimeoutMs: (config.redisConnectTimeout ?? 5) * 1000,
      commandTimeoutMs: (config.redisTimeout ?? 5) * 1000,
      checkEveryMs: (config.redisCheckInterval ?? 5) * 1000,
      longestPauseMs: (config.redisReconnectDelay ?? 2) * 1000,
      keepAlive: config.redisKeepAlive,
      more: config.socketRedisOptions,
    });
  } catch (error) {
    throw new BootError(
      `${(error as Error).message}. Start it, or leave REDIS_URL out: events then travel over the database.`,
      { cause: error },
    );
  }
}
