import type { Environment } from "./declaration.ts";

/** Variables that operators of such platforms know and that nothing here reads. */
interface Unsupported {
  readonly names: readonly string[];
  /** The way in place of these variables, in words that follow "has no effect: ". */
  readonly why: string;
  /** Values that ask for what is the case here anyway. */
  readonly fine?: readonly string[];
}

export const unsupported: readonly Unsupported[] = [
  {
    names: ["VECTOR_DB"],
    fine: ["pgvector"],
    why: "passages and their vectors are kept in the platform's own Postgres database",
  },
  {
    names: ["DATABASE_ENABLE_SQLITE_WAL"],
    fine: ["false"],
    why: "Postgres is the only kind of database",
  },
  {
    names: ["DATABASE_USER_ACTIVE_STATUS_UPDATE_INTERVAL"],
    why: "the last activity of accounts is stored in batches, at a pace of its own",
  },
  {
    names: [
      "GCS_BUCKET_NAME",
      "GOOGLE_APPLICATION_CREDENTIALS_JSON",
      "AZURE_STORAGE_ENDPOINT",
      "AZURE_STORAGE_CONTAINER_NAME",
      "AZURE_STORAGE_KEY",
    ],
    why: "files are kept in DATA_DIR or, with STORAGE_PROVIDER=s3, in an S3 bucket",
  },
  {
    names: ["UVICORN_WORKERS"],
    fine: ["1"],
    why: "a replica is one process; start more replicas over the same database",
  },
  { names: ["THREAD_POOL_SIZE"], why: "requests need no pool of threads" },
  {
    names: ["ENABLE_STAR_SESSIONS_MIDDLEWARE"],
    fine: ["false"],
    why: "sign-ins under way work on every replica without it",
  },
  {
    names: ["REDIS_SENTINEL_MAX_RETRY_COUNT", "WEBSOCKET_SENTINEL_HOSTS", "WEBSOCKET_SENTINEL_PORT"],
    why: "REDIS_SENTINEL_HOSTS and REDIS_SENTINEL_PORT name the sentinels, REDIS_RECONNECT_DELAY bounds the tries",
  },
  { names: ["WEBSOCKET_REDIS_LOCK_TIMEOUT"], why: "no lock is kept in Redis" },
  {
    names: ["AUDIT_LOG_LEVEL"],
    fine: ["none"],
    why: "the audit record is always kept, in the database; GET /api/v1/audit/export answers it",
  },
  {
    names: ["ENABLE_AUDIT_STDOUT", "ENABLE_AUDIT_GET_REQUESTS"],
    fine: ["false"],
    why: "the audit record holds changes and is kept in the database",
  },
  {
    names: [
      "ENABLE_AUDIT_LOGS_FILE",
      "AUDIT_LOGS_FILE_PATH",
      "AUDIT_LOG_FILE_ROTATION_SIZE",
      "AUDIT_EXCLUDED_PATHS",
      "AUDIT_INCLUDED_PATHS",
      "MAX_BODY_LOG_SIZE",
    ],
    why: "the audit record is kept in the database, without bodies of requests",
  },
  {
    names: [
      "OTEL_OTLP_SPAN_EXPORTER",
      "OTEL_EXPORTER_OTLP_PROTOCOL",
      "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
      "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
      "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL",
    ],
    fine: ["http", "http/json"],
    why: "telemetry is exported as JSON over HTTP, which collectors take at port 4318",
  },
  { names: ["MODELS_CACHE_TTL"], why: "lists of models are refreshed in the background" },
  {
    names: ["ENABLE_QUERIES_CACHE"],
    fine: ["false"],
    why: "queries are written anew for each question",
  },
  {
    names: ["ENABLE_GOOGLE_DRIVE_INTEGRATION", "ENABLE_ONEDRIVE_INTEGRATION"],
    fine: ["false"],
    why: "no picker of that drive is built in",
  },
];

/** A warning for each of them that the environment sets; those that a plugin declares are its own. */
export function findUnsupported(environment: Environment, isDeclared: (name: string) => boolean): string[] {
  return unsupported.flatMap(({ names, why, fine = [] }) =>
    names
      .filter((name) => !isDeclared(name))
      .filter((name) => {
        const value = environment[name]?.trim().toLowerCase() ?? "";
        return value !== "" && !fine.includes(value);
      })
      .map((name) => `${name} has no effect: ${why}.`),
  );
}
