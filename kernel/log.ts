import { type DestinationStream, type LogFn, pino, stdSerializers } from "pino";
import { lineLogged } from "./work.ts";

/** Writes what happened; every line carries the bindings of its logger. Secrets are masked. */
export interface Logger {
  readonly debug: LogFn;
  readonly info: LogFn;
  readonly warn: LogFn;
  readonly error: LogFn;
  readonly fatal: LogFn;
  /** For code that would compute something only to log it. */
  isLevelEnabled(level: string): boolean;
  child(bindings: Record<string, unknown>): Logger;
}

export interface LogOptions {
  /** GLOBAL_LOG_LEVEL: DEBUG, INFO, WARNING, ERROR or CRITICAL in any case; anything else is INFO. */
  readonly level: string;
  /** LOG_FORMAT: "json" writes one JSON object a line, anything else lines for people. */
  readonly format: string;
  /** Where lines go; standard output when left out. */
  readonly stream?: { write(line: string): unknown };
}

/** Creates the logger of the process. Writes are synchronous, so that the last words before an exit are kept. */
export function createLogger({ level, format, stream }: LogOptions): Logger {
  const output: DestinationStream =
    (stream as DestinationStream | undefined) ?? pino.destination({ dest: 1, sync: true });
  const isJson = format.toLowerCase() === "json";
  const logger = pino(
    {
      level: levels[level.trim().toUpperCase()] ?? "info",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactData(fields) as Record<string, unknown>,
      },
      // On the finished line, so that no message, stack or nested text is forgotten.
      hooks: { streamWrite: toSafeLine },
    },
    isJson ? output : { write: (line) => void output.write(toPlainLine(line)) },
  );
  // Pino forgets its binding formatter in children; a method of the root is what all of them inherit.
  const { child } = logger;
  logger.child = function childWithoutSecrets(this: typeof logger, bindings: object, ...rest: never[]) {
    return child.call(this, redactData(bindings) as object, ...rest);
  } as typeof child;
  return logger as unknown as Logger;
}

/** Masks bearer tokens, API keys, JSON web tokens and credentials in URLs inside a text. */
export function redactText(text: string): string {
  // Nearly every line is innocent, and this is asked once per request.
  if (!suspicious.test(text)) {
    return text;
  }
  return (
    text
      .replace(/\b(bearer\s+)[\w.~+/=-]{8,}/gi, `$1${mask}`)
      .replace(/\b(basic\s+)[A-Za-z0-9+/]{4,}={1,2}/gi, `$1${mask}`)
      // Tokens of channels' webhooks and calendars' links are segments of the path (security case S49).
      .replace(/(\/(?:channels\/webhooks|calendars\/subscribe)\/[^/\s"]+\/)[\w-]{16,}/g, `$1${mask}`)
      .replace(/\bsk-[\w-]{8,}/g, mask)
      .replace(/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g, mask)
      .replace(/(\/\/[^\s/:@"'\\]*:)[^\s/@"'\\]+@/g, `$1${mask}@`)
      .replace(/([?&](?:\w*token|\w*key|\w*secret|password|signature|sig|code)=)[^&\s"'#\\]+/gi, `$1${mask}`)
  );
}

/** A copy in which the values of secret-looking keys are masked, at any depth; the value itself when there are none. */
export function redactData(value: unknown): unknown {
  return redact(value, 0);
}

/** A line without secrets, as it is written and told to telemetry. */
function toSafeLine(line: string): string {
  const safe = redactText(line);
  if (lineLogged.hasSubscribers) {
    lineLogged.publish(safe);
  }
  return safe;
}

const mask = "[redacted]";
const suspicious = /bearer|basic|sk-|eyJ|webhooks\/|subscribe\/|\/\/|[?&]/i;
const maxDepth = 12;

const levels: Readonly<Record<string, string>> = {
  TRACE: "trace",
  DEBUG: "debug",
  INFO: "info",
  WARNING: "warn",
  WARN: "warn",
  ERROR: "error",
  CRITICAL: "fatal",
  FATAL: "fatal",
};

const secretKey =
  /^(?:(?:proxy)?authorization|(?:set)?cookie|key|credentials?|.*(?:apikey|password|passwd|token|secret|secretkey|privatekey))$/;
const knownKeys = new Map<string, boolean>();

/** Hyphens, underscores and case do not matter: x-api-key, apiKey and API_KEY are the same name. */
function isSecret(key: string): boolean {
  let known = knownKeys.get(key);
  if (known === undefined) {
    known = secretKey.test(key.replace(/[-_]/g, "").toLowerCase());
    // Keys may come from outside, so the memory of them is bounded.
    if (knownKeys.size < 2_000) {
      knownKeys.set(key, known);
    }
  }
  return known;
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error) {
    return value;
  }
  if (ArrayBuffer.isView(value)) {
    return `[${value.byteLength} bytes]`;
  }
  if (depth > maxDepth) {
    return "[too deep]";
  }
  let copy: Record<string, unknown> | undefined;
  const source = value as Record<string, unknown>;
  for (const key of Object.keys(source)) {
    const before = source[key];
    const isHidden = isSecret(key) && before !== null && before !== undefined && typeof before !== "boolean";
    const after = isHidden ? mask : redact(before, depth + 1);
    if (after !== before) {
      copy ??= Array.isArray(value) ? ([...value] as never) : { ...source };
      copy![key] = after;
    }
  }
  return copy ?? value;
}

function serializeError(error: unknown): unknown {
  return error instanceof Error ? redactData(stdSerializers.errWithCause(error)) : redactData(error);
}

/** `2026-01-31 12:00:00.000 INFO  calendar: message key=value`, with a stack on the lines below. */
function toPlainLine(line: string): string {
  const { time, level, msg, plugin, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const when = String(time).replace("T", " ").replace("Z", "");
  const label = String(level).toUpperCase().padEnd(5);
  const prefix = plugin === undefined ? "" : `${toPlainText(plugin)}: `;
  const rest = Object.entries(fields).map(([key, value]) => ` ${escapeControl(key)}=${toPlainText(value)}`);
  const head = `${when} ${label} ${prefix}${escapeControl(String(msg ?? ""))}${rest.join("")}`;
  return `${head}${err === undefined ? "" : toPlainError(err)}\n`;
}

function toPlainText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return typeof value === "string" && /[\s"=]/.test(text) ? JSON.stringify(text) : escapeControl(text);
}

function toPlainError(err: unknown): string {
  const { stack, message, cause } = (err ?? {}) as Record<string, unknown>;
  const text = typeof err === "string" ? err : String(stack ?? message ?? JSON.stringify(err));
  const lines = text
    .split("\n")
    .map((each) => `\n    ${escapeControl(each)}`)
    .join("");
  return cause === undefined ? lines : `${lines}\n  caused by${toPlainError(cause)}`;
}

/** Text from outside must not start a line of its own or steer the terminal. */
function escapeControl(text: string): string {
  return !/\p{Cc}/u.test(text)
    ? text
    : text.replace(/\p{Cc}/gu, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
