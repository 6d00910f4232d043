import type { JsonObject } from "#config/json-values.ts";
import { AppError } from "#kernel/errors.ts";

/** Efforts of the common wire as the runtime's `think`. */
const efforts: Readonly<Record<string, boolean | string>> = {
  none: false,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "max",
  xhigh: "max",
  ultra: "max",
};

/** Fields beside `options` that go to the runtime as they are. */
const sameFields = ["logprobs", "top_logprobs", "truncate", "shift"] as const;

/**
 * The runtime's fields of a common request that stand beside `options`: format, think, keep_alive and those that both
 * know. Throws `invalid` for an effort or a format that does not exist.
 */
export function toSettings(request: JsonObject): Record<string, unknown> {
  const settings = {
    format: toFormat(request["response_format"]) ?? toOwnFormat(request["format"]),
    think: toThink(request),
    keep_alive: toKeepAlive(request["keep_alive"]),
  };
  const same = sameFields.map((name) => [name, request[name]] as const);
  return Object.fromEntries(
    [...Object.entries(settings), ...same].filter(([, value]) => value !== undefined && value !== null),
  );
}

/** A duration as the runtime takes it: seconds, or a text such as `5m`; negative is for ever, 0 unloads. */
export function toKeepAlive(value: unknown): unknown {
  return typeof value === "string" && /^\s*-?\d+\s*$/.test(value)
    ? Number(value)
    : value === ""
      ? undefined
      : value;
}

/** Whether and how much to think: `think` says it in the runtime's own words and wins over the common effort. */
export function toThink({ think, reasoning_effort: effort }: JsonObject): unknown {
  if (think !== undefined && think !== null && think !== "") {
    return think === "true" ? true : think === "false" ? false : think;
  }
  if (effort === undefined || effort === null || effort === "") {
    return undefined;
  }
  const known = Object.hasOwn(efforts, String(effort)) ? efforts[String(effort)] : undefined;
  if (known === undefined) {
    throw new AppError("invalid", `reasoning_effort: must be one of ${Object.keys(efforts).join(", ")}.`);
  }
  return known;
}

function toFormat(format: unknown): unknown {
  const { type, json_schema: schema } = (format ?? {}) as {
    type?: unknown;
    json_schema?: { schema?: unknown };
  };
  switch (type) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return "json";
    case "json_schema":
      if (typeof schema?.schema !== "object" || schema.schema === null) {
        throw new AppError("invalid", "response_format.json_schema.schema: must be a JSON schema.");
      }
      return schema.schema;
    default:
      throw new AppError("invalid", "response_format.type: must be text, json_object or json_schema.");
  }
}

/** The runtime's own word; a saved parameter may hold a schema as text. */
function toOwnFormat(format: unknown): unknown {
  if (typeof format !== "string" || !format.trim().startsWith("{")) {
    return format === "" ? undefined : format;
  }
  try {
    return JSON.parse(format);
  } catch {
    throw new AppError("invalid", "format: must be json or a JSON schema.");
  }
}
