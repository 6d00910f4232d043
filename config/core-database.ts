import { ConfigError } from "./environment.ts";
import { bool, int, seconds, text } from "./variable.ts";
import type { Values } from "./variable.ts";

/** Where the records live, and how many connections they get. */
export const databaseVariables = {
  databaseUrl: text("DATABASE_URL", null, {
    secret: true,
    text: "Postgres connection URL; without it and without DATABASE_HOST the embedded database under DATA_DIR is used",
  }),
  databaseType: text("DATABASE_TYPE", "postgresql", {
    text: "With DATABASE_HOST: the kind of database; postgresql only",
  }),
  databaseUser: text("DATABASE_USER", null, { text: "With DATABASE_HOST: user name" }),
  databasePassword: text("DATABASE_PASSWORD", null, {
    secret: true,
    text: "With DATABASE_HOST: password, as it is, not URL-encoded",
  }),
  databaseHost: text("DATABASE_HOST", null, {
    text: "Host of the database, in place of DATABASE_URL, which wins when both are set",
  }),
  databasePort: int("DATABASE_PORT", 5432, { min: 1, max: 65_535, text: "With DATABASE_HOST: port" }),
  databaseName: text("DATABASE_NAME", null, { text: "With DATABASE_HOST: name of the database" }),
  databaseSchema: text("DATABASE_SCHEMA", "public", { text: "Postgres schema of the tables" }),
  databasePoolSize: int("DATABASE_POOL_SIZE", 20, {
    min: 1,
    text: "Connections kept to a Postgres server, per process; two more are for announcements and signs of life",
  }),
  databasePoolMaxOverflow: int("DATABASE_POOL_MAX_OVERFLOW", 0, {
    min: 0,
    text: "Connections beyond DATABASE_POOL_SIZE that may be opened under load",
  }),
  databasePoolTimeout: seconds("DATABASE_POOL_TIMEOUT", 30, {
    min: 1,
    text: "Seconds to wait for a free connection",
  }),
  databaseQueryTimeout: seconds("DATABASE_QUERY_TIMEOUT", 20, {
    min: 0,
    text: "Seconds that a Postgres server may leave a statement unanswered, migrations aside; 0 for ever",
  }),
  databasePoolRecycle: seconds("DATABASE_POOL_RECYCLE", 3600, {
    text: "Seconds after which a connection is replaced; -1 never",
  }),
  databaseMigrations: bool("ENABLE_DB_MIGRATIONS", true, {
    text: "Migrates the database at the start; when off, a database that is behind refuses the start",
  }),
};

/**
 * The Postgres URL that DATABASE_URL or the DATABASE_HOST family spells, or null for the embedded database.
 * Throws ConfigError for another kind of database or for missing parts.
 */
export function databaseUrl(config: Values<typeof databaseVariables>): string | null {
  if (config.databaseUrl !== null) {
    return toPostgresUrl("DATABASE_URL", config.databaseUrl);
  }
  if (config.databaseHost === null) {
    return null;
  }
  const missing = (["databaseUser", "databaseName"] as const).find((part) => config[part] === null);
  if (missing) {
    throw new ConfigError(databaseVariables[missing].name, "is needed beside DATABASE_HOST");
  }
  const password = config.databasePassword === null ? "" : `:${encodeURIComponent(config.databasePassword)}`;
  const account = `${encodeURIComponent(config.databaseUser ?? "")}${password}`;
  const host = config.databaseHost.includes(":") ? `[${config.databaseHost}]` : config.databaseHost;
  const name = encodeURIComponent(config.databaseName ?? "");
  return toPostgresUrl(
    "DATABASE_TYPE",
    `${config.databaseType}://${account}@${host}:${config.databasePort}/${name}`,
  );
}

// The ecosystem's URLs may name a driver after the kind of database, as in postgresql+psycopg2.
function toPostgresUrl(variable: string, url: string): string {
  const [, kind, rest] = /^([a-z0-9]+)(?:\+[a-z0-9]+)?(:.*)$/is.exec(url.trim()) ?? [];
  if (kind === undefined || !/^(postgres|postgresql|pgsql)$/i.test(kind)) {
    const hint = /^sqlite/i.test(kind ?? "")
      ? "names an SQLite file, which is not supported: leave it out for the embedded database, or name a Postgres server"
      : "must name a Postgres server, as in postgresql://user:password@host:5432/name";
    throw new ConfigError(variable, hint);
  }
  return `postgresql${rest}`;
}
