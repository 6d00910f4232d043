import { randomUUID } from "node:crypto";
import { databaseVariables } from "./core-database.ts";
import { outboundVariables } from "./core-outbound.ts";
import { processVariables } from "./core-process.ts";
import { storageVariables } from "./core-storage.ts";
import { upstreamVariables } from "./core-upstream.ts";
import { checkAddress } from "./parse.ts";
import { persistence } from "./persistence.ts";
import { findKeyProblem } from "./secret-key.ts";
import { bool, int, list, oneOf, seconds, text } from "./variable.ts";
import type { Values } from "./variable.ts";

const identity = {
  env: oneOf("ENV", ["dev", "prod"], "dev", {
    whenInvalid: "prod",
    text: "dev shows the interactive docs; the container image sets prod, and any other value counts as prod",
  }),
  name: text("WEBUI_NAME", "Millrace", { text: "Display name of the service" }),
  customName: text("CUSTOM_NAME", null, { text: "Sets the display name in place of WEBUI_NAME" }),
  deploymentId: text("DEPLOYMENT_ID", "", { text: "Name of this deployment, told by GET /api/version" }),
  instanceId: text("INSTANCE_ID", "", {
    computed: { shown: "random UUID per start", from: () => randomUUID() },
    text: "Name of this process, stamped on every event as instance_id",
  }),
  webuiUrl: text("WEBUI_URL", "", {
    key: "webui.url",
    persisted: true,
    check: checkAddress,
    text: "Public URL of the service; needed before sign-in through others is used",
  }),
  oauthSessionKey: text("OAUTH_SESSION_TOKEN_ENCRYPTION_KEY", null, {
    secret: true,
    text: "Encrypts people's tokens of providers and tool servers; not set, WEBUI_SECRET_KEY does. After a change people sign in again",
  }),
  secretKey: text("WEBUI_SECRET_KEY", null, {
    secret: true,
    check: findKeyProblem,
    text: "Signs sessions and encrypts stored secrets; not set, a random one is made and kept in the database, which signs but protects no secret",
  }),
};

const http = {
  port: int("PORT", 8080, {
    min: 0,
    max: 65_535,
    text: "Port to listen on; the serve command takes --port instead",
  }),
  host: text("HOST", "127.0.0.1", { text: "Address to listen on; the container image sets 0.0.0.0" }),
  forwardedAllowIps: list("FORWARDED_ALLOW_IPS", ["*"], {
    whenEmpty: [],
    text: "Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; * believes all",
  }),
  corsAllowOrigin: list("CORS_ALLOW_ORIGIN", ["*"], {
    separator: ";",
    whenEmpty: [],
    text: "Origins of other sites that browsers may call from, separated by semicolons; * allows all",
  }),
  compression: bool("ENABLE_COMPRESSION_MIDDLEWARE", true, {
    text: "Compresses answers over 500 bytes of compressible types",
  }),
  fastJson: bool("ENABLE_ORJSON", true, { text: "Uses the faster JSON encoder and decoder where it can" }),
  ecosystemAliases: bool("ENABLE_ECOSYSTEM_ALIASES", true, {
    text: "Answers /openai and /ollama as other names of /compat and /runtime",
  }),
  requestBodyMaxBytes: int("REQUEST_BODY_MAX_BYTES", 64 * 1024 * 1024, {
    min: 1024,
    text: "Largest JSON request body in bytes",
  }),
  shutdownGraceSeconds: seconds("SHUTDOWN_GRACE_SECONDS", 30, {
    min: 0,
    text: "Seconds that running answers get to finish after a stop was asked for",
  }),
};

const operation = {
  logLevel: oneOf("GLOBAL_LOG_LEVEL", ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], "INFO", {
    text: "Least weight of a line that is logged",
  }),
  logFormat: oneOf("LOG_FORMAT", ["", "json"], "", { text: "json writes one JSON object a line" }),
  schedulerPollInterval: seconds("SCHEDULER_POLL_INTERVAL", 10, {
    was: "AUTOMATION_POLL_INTERVAL",
    min: 1,
    text: "Seconds between two looks for due automations and calendar alerts",
  }),
  bypassAdminAccessControl: bool("BYPASS_ADMIN_ACCESS_CONTROL", true, {
    text: "Administrators reach every resource without a grant",
  }),
  plugins: bool("ENABLE_PLUGINS", true, {
    text: "Functions and workspace tools, the code that administrators and permitted users write",
  }),
  valveEncryption: bool("ENABLE_VALVE_ENCRYPTION", false, {
    text: "Encrypts the settings of functions and tools in the database, with a key made from WEBUI_SECRET_KEY",
  }),
  bypassModelAccessControl: bool("BYPASS_MODEL_ACCESS_CONTROL", false, {
    text: "All users and administrators see all models",
  }),
};

/** The variables that no plugin owns. */
export const core = {
  ...identity,
  ...http,
  ...operation,
  ...persistence,
  ...databaseVariables,
  ...storageVariables,
  ...outboundVariables,
  ...upstreamVariables,
  ...processVariables,
};

export type CoreConfig = Values<typeof core>;

/** The name that users see. */
export function displayName(config: Pick<CoreConfig, "name" | "customName">): string {
  return config.customName ?? config.name;
}
