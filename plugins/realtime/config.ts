import { z } from "zod";
import { bool, int, json, oneOf, seconds, text, type Values } from "#config/variable.ts";

/** Open connections to clients. */
const connections = {
  sockets: bool("ENABLE_WEBSOCKET_SUPPORT", true, {
    text: "Clients may keep a WebSocket open at /ws or, as Socket.IO clients, at /ws/socket.io",
  }),
  socketPingInterval: seconds("WEBSOCKET_SERVER_PING_INTERVAL", 25, {
    min: 1,
    text: "Seconds between two signs of life that the server asks an open connection for",
  }),
  socketPingTimeout: seconds("WEBSOCKET_SERVER_PING_TIMEOUT", 20, {
    min: 1,
    text: "Seconds after which a connection that gave no sign of life is closed",
  }),
  socketCallTimeout: seconds("WEBSOCKET_EVENT_CALLER_TIMEOUT", null, {
    min: 1,
    text: "Seconds that a question to a client waits for the answer; not set, as long as whoever asks",
  }),
  socketLogging: bool("WEBSOCKET_SERVER_LOGGING", false, {
    text: "Logs every connection that opens and closes",
  }),
};

/** Where events between replicas travel. */
const fanOut = {
  socketManager: oneOf("WEBSOCKET_MANAGER", ["", "redis"], "", {
    text: "redis refuses to start without a Redis; empty uses Redis when REDIS_URL is set and the database otherwise",
  }),
  socketRedisUrl: text("WEBSOCKET_REDIS_URL", "", {
    secret: true,
    text: "Redis for events between replicas when it is another one than REDIS_URL",
  }),
  socketRedisCluster: bool("WEBSOCKET_REDIS_CLUSTER", false, {
    text: "WEBSOCKET_REDIS_URL names a node of a Redis cluster",
  }),
  socketRedisOptions: json(
    "WEBSOCKET_REDIS_OPTIONS",
    {},
    {
      schema: z.record(z.string(), z.unknown()),
      secret: true,
      text: "Further connection options of the Redis client, a JSON object",
    },
  ),
};

const redis = {
  redisUrl: text("REDIS_URL", "", {
    secret: true,
    text: "redis:// or rediss:// address; events between replicas then travel over Redis instead of the database",
  }),
  redisCluster: bool("REDIS_CLUSTER", false, { text: "REDIS_URL names a node of a Redis cluster" }),
  redisPrefix: text("REDIS_KEY_PREFIX", "millrace", {
    text: "Begins the names of all channels; the id of the database follows, so that deployments can share a Redis",
  }),
  redisSentinelHosts: text("REDIS_SENTINEL_HOSTS", "", {
    text: "Comma-separated sentinels; REDIS_URL's host is then the name of the master",
  }),
  redisSentinelPort: int("REDIS_SENTINEL_PORT", 26_379, {
    min: 1,
    max: 65_535,
    text: "Port of sentinels that are named without one",
  }),
  redisConnectTimeout: seconds("REDIS_SOCKET_CONNECT_TIMEOUT", null, {
    min: 1,
    text: "Seconds to connect to Redis; 5 when not set",
  }),
  redisTimeout: seconds("REDIS_SOCKET_TIMEOUT", null, {
    min: 1,
    text: "Seconds that Redis may take to answer a command; 5 when not set",
  }),
  redisKeepAlive: bool("REDIS_SOCKET_KEEPALIVE", true, { text: "Keeps idle connections to Redis alive" }),
  redisCheckInterval: seconds("REDIS_HEALTH_CHECK_INTERVAL", null, {
    min: 1,
    text: "Seconds between two looks whether Redis still answers; 5 when not set",
  }),
  redisReconnectDelay: seconds("REDIS_RECONNECT_DELAY", null, {
    min: 1,
    text: "Longest pause in seconds between two tries to reach Redis again; 2 when not set",
  }),
};

/** Variables of sockets and of the bus between replicas. */
export const realtimeVariables = { ...connections, ...fanOut, ...redis };

export type RealtimeConfig = Values<typeof realtimeVariables>;
