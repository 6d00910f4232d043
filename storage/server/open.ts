import { setTimeout as pause } from "node:timers/promises";
import { PostgresDialect } from "kysely";
import { Client, Pool, types, type ClientConfig, type PoolConfig } from "pg";
import type { Engine } from "../engine.ts";
import { isUnavailable, StorageError } from "../errors.ts";
import type { DatabaseOptions } from "../handle.ts";
import { fromInt8 } from "../values.ts";
import { Listener } from "./listener.ts";
import { ownLimit, preparingPool } from "./statements.ts";

/** Opens a Postgres server. Throws StorageError when it cannot be reached in time or refuses. */
export async function openServer(url: string, options: DatabaseOptions): Promise<Engine> {
  const log = options.log ?? (() => {});
  const config = toConfig(url, options);
  const pool = openPool({ ...config, ...toPoolConfig(options) }, log);
  try {
    await reach(pool, options.patienceSeconds ?? 10, log);
    const mayCreate = options.mayCreate ?? true;
    if (options.schema) {
      await findSchema(pool, options.schema, mayCreate);
    }
    const reserved = openPool({ ...config, ...reservedPool }, log);
    return toEngine({ pool, reserved, config, log, hasVector: await findVector(pool, mayCreate) });
  } catch (error) {
    await pool.end();
    throw toStorageError(error, config);
  }
}

function openPool(config: PoolConfig, log: (message: string) => void): Pool {
  const pool = new Pool({ ...config, Client: QuickClient } as PoolConfig);
  // Without these handlers a connection that breaks while idle, or between two statements, would end the process.
  pool.on("error", (error) => log(`An idle database connection broke: ${error.message}`));
  pool.on("connect", (client) =>
    client.on("error", (error) => log(`A database connection broke: ${error.message}`)),
  );
  return pool;
}

/** See reserved-connection.ts. */
const reservedPool = {
  max: 1,
  connectionTimeoutMillis: 2_000,
  query_timeout: 2_000,
  idleTimeoutMillis: 30_000,
};

function toEngine(parts: {
  pool: Pool;
  reserved: Pool;
  config: ClientConfig;
  log(message: string): void;
  hasVector: boolean;
}): Engine {
  const { pool, reserved, config, log, hasVector } = parts;
  const listener = new Listener({
    config,
    log,
    onNotification: (channel, payload) => engine.onNotification(channel, payload),
    onGap: () => engine.onGap(),
  });
  const engine: Engine = {
    kind: "server",
    dialect: new PostgresDialect({ pool: preparingPool(pool, reserved) }),
    hasVector,
    async run(text, values) {
      // Without values the simple protocol takes several statements and answers with several results.
      const statement = { text, ...(values.length > 0 && { values: [...values] }), ...ownLimit() };
      const result: unknown = await pool.query(statement);
      const results = (Array.isArray(result) ? result : [result]) as { rows?: Record<string, unknown>[] }[];
      return { rows: results.flatMap(({ rows }) => rows ?? []) };
    },
    subscribe: (channel) => listener.listen(channel),
    unsubscribe: (channel) => listener.unlisten(channel),
    isHearing: () => listener.isHearing,
    onNotification: () => {},
    onGap: () => {},
    async close() {
      await listener.close();
      await reserved.end();
      await pool.end();
    },
  };
  return engine;
}

/** Connects with a short timeout; the pool's own limit bounds the wait for a free connection. */
class QuickClient extends Client {
  constructor(config: ClientConfig = {}) {
    const limit = config.connectionTimeoutMillis ?? CONNECT_LIMIT_MS;
    super({ ...config, connectionTimeoutMillis: Math.min(limit, CONNECT_LIMIT_MS) });
  }
}

const CONNECT_LIMIT_MS = 5_000;

/** The types of the driver describe an older form of this. */
const arrays = types.arrayParser as unknown as {
  create(text: string, parse: (text: string) => unknown): { parse(): unknown[] };
};

/** Both kinds of database give the same values; see values.ts. */
const parsers: Record<number, (text: string) => unknown> = {
  20: fromInt8,
  1016: (text) => arrays.create(text, fromInt8).parse(),
  1082: (text) => text,
  1186: (text) => text,
};

function toConfig(url: string, { schema }: DatabaseOptions): ClientConfig {
  if (!URL.canParse(url)) {
    // The thrown original would carry the address, and the password with it.
    throw new StorageError(
      "DATABASE_URL cannot be read. It should look like postgres://user:password@host:5432/name",
    );
  }
  return {
    connectionString: url,
    application_name: "millrace",
    keepAlive: true,
    // An idle connection whose other end is gone without a word is found this soon instead of after two hours.
    keepAliveInitialDelayMillis: 10_000,
    // The server's own text format for all but the types above.
    types: {
      getTypeParser: ((oid: number, format?: "text") =>
        parsers[oid] ?? types.getTypeParser(oid, format)) as typeof types.getTypeParser,
    },
    // Quoted, or a name with capitals would be looked for in lower case, and its tables end up in `public`.
    ...(schema ? { options: `-c search_path="${schema}",public` } : {}),
  };
}

function toPoolConfig({ pool = {} }: DatabaseOptions): PoolConfig {
  return {
    // A lock sits on one connection while its holder works on another.
    max: Math.max(2, (pool.size ?? 20) + (pool.maxOverflow ?? 0)),
    connectionTimeoutMillis: (pool.timeoutSeconds ?? 30) * 1000,
    query_timeout: (pool.queryTimeoutSeconds ?? 20) * 1000,
    // -1 means never.
    maxLifetimeSeconds: Math.max(0, pool.recycleSeconds ?? 3600),
    idleTimeoutMillis: 30_000,
  };
}

/** A server that starts together with this process may need a moment; a refusal is final. */
async function reach(pool: Pool, patience: number, log: (message: string) => void): Promise<void> {
  const deadline = Date.now() + patience * 1000;
  for (;;) {
    try {
      await pool.query("select 1");
      return;
    } catch (error) {
      if (!isUnavailable(error) || Date.now() > deadline) {
        throw error;
      }
      log("The database cannot be reached yet; trying again");
      await pause(500);
    }
  }
}

/** Without its own schema an installation would find the tables of the one in `public`. */
async function findSchema(pool: Pool, schema: string, mayCreate: boolean): Promise<void> {
  if (mayCreate) {
    await pool.query(`create schema if not exists "${schema}"`);
    return;
  }
  const { rows } = await pool.query("select 1 from pg_namespace where nspname = $1", [schema]);
  if (rows.length === 0) {
    throw new StorageError(
      `The database has no schema ${schema} (DATABASE_SCHEMA), and migrations are switched off. Run them before this version can serve`,
    );
  }
}

/** True when vectors can be stored; the extension is created where that is allowed. */
async function findVector(pool: Pool, mayCreate: boolean): Promise<boolean> {
  const has = async (view: string, column: string) =>
    (await pool.query(`select 1 from ${view} where ${column} = 'vector'`)).rows.length > 0;
  if (await has("pg_extension", "extname")) {
    return true;
  }
  if (!mayCreate || !(await has("pg_available_extensions", "name"))) {
    return false;
  }
  try {
    await pool.query("create extension if not exists vector schema public");
    return true;
  } catch {
    // No right to create it, or another process was faster.
    return await has("pg_extension", "extname");
  }
}

function toStorageError(error: unknown, config: ClientConfig): StorageError {
  if (error instanceof StorageError) {
    return error;
  }
  const { hostname, port, pathname } = new URL(config.connectionString!);
  const first = error instanceof AggregateError ? (error.errors[0] as Error) : (error as Error);
  return new StorageError(
    `The database ${hostname}:${port || 5432}${pathname} cannot be used: ${first.message}`,
    {
      cause: error,
    },
  );
}
