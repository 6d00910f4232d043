import type { JsonObject } from "#config/json-values.ts";
import { AppError } from "#kernel/errors.ts";

type Kind = "int" | "float" | "bool" | "texts";

/**
 * The runtime's options and their types: a name it does not know it merely logs, a wrong type it refuses. The last row
 * is gone from current runtimes; older ones still have it.
 */
const kinds: Readonly<Record<Kind, string>> = {
  int: `num_keep seed num_predict top_k repeat_last_n num_ctx num_batch num_gpu main_gpu num_thread draft_num_predict
    mirostat`,
  float: `top_p min_p typical_p temperature repeat_penalty presence_penalty frequency_penalty
    mirostat_eta mirostat_tau tfs_z`,
  bool: `use_mmap
    use_mlock penalize_newline`,
  texts: "stop",
};

const kindOf: ReadonlyMap<string, Kind> = new Map(
  Object.entries(kinds).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name) => [name, kind as Kind] as const),
  ),
);

/**
 * The runtime's `options` of a common request: parameters of the top level under their names there, and over them what
 * `options` itself says. Core API, chat completion rule 7: `max_tokens` becomes `num_predict`. Throws `invalid` for a
 * value that cannot be what its option takes.
 */
export function toOptions(request: JsonObject): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  const limit = request["max_completion_tokens"] ?? request["max_tokens"];
  if (isSet(limit)) {
    options["num_predict"] = toTyped("max_tokens", "int", limit);
  }
  for (const [name, kind] of kindOf) {
    if (isSet(request[name])) {
      options[name] = toTyped(name, kind, request[name]);
    }
  }
  for (const [given, value] of Object.entries((request["options"] ?? {}) as JsonObject)) {
    const name = given === "max_tokens" ? "num_predict" : given;
    if (isSet(value)) {
      const kind = kindOf.get(name);
      options[name] = kind ? toTyped(`options.${given}`, kind, value) : value;
    }
  }
  return options;
}

/** The value as the option takes it: forms send numbers as texts, and one stop as no list. */
function toTyped(field: string, kind: Kind, value: unknown): unknown {
  const typed = readers[kind](value);
  if (typed === undefined) {
    throw new AppError("invalid", `${field}: must be ${wanted[kind]}.`);
  }
  return typed;
}

const wanted: Readonly<Record<Kind, string>> = {
  int: "a whole number",
  float: "a number",
  bool: "true or false",
  texts: "a text or a list of texts",
};

const readers: Readonly<Record<Kind, (value: unknown) => unknown>> = {
  int: (value) => {
    const number = toNumber(value);
    return number === undefined ? undefined : Math.trunc(number);
  },
  float: toNumber,
  bool: (value) =>
    typeof value === "boolean"
      ? value
      : ({ true: true, false: false, 1: true, 0: false } as JsonObject)[String(value)],
  texts(value) {
    const list = typeof value === "string" ? [value] : value;
    return Array.isArray(list) && list.every((each) => typeof each === "string") ? list : undefined;
  },
};

function toNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Names of the runtime's options. */
export function isOption(name: string): boolean {
  return kindOf.has(name);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
