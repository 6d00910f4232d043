import { AppError } from "#kernel/errors.ts";
import type { Json, ModuleShape } from "#kernel/sandbox.ts";
import { createValveSet, type ValveSet } from "../valves/valve-set.ts";

export type FunctionType = "pipe" | "filter" | "action" | "event";

/** One model of a pipe, or one button of an action. */
export interface SubItem {
  readonly id: string;
  readonly name: string;
  readonly icon: string | null;
}

/** The host functions that a function may use, as `meta.capabilities` declares them. */
export interface Capabilities {
  /** Host names that `host.fetch` may reach: `api.example.com`, `example.com:8443` or `*.example.com`. */
  readonly fetch: readonly string[];
  readonly complete: boolean;
  readonly storage: boolean;
}

/** The facts that code of every kind declares: functions and workspace tools. */
export interface CodeFacts {
  /** Header comment and `meta` together. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly description: string;
  readonly icon: string | null;
  readonly capabilities: Capabilities;
  readonly valves: ValveSet | undefined;
  readonly userValves: ValveSet | undefined;
}

/** The facts that a function's code declares (contract D.29). */
export interface FunctionFacts extends CodeFacts {
  readonly type: FunctionType;
  /** Names of the exported functions. */
  readonly exports: ReadonlySet<string>;
  /** People switch it on themselves, with `filter_ids`. */
  readonly toggle: boolean;
  /** Its inlet and outlet take part in background tasks. */
  readonly tasks: boolean;
  /** It handles attached files itself: they are taken out of the request after inlet. */
  readonly fileHandler: boolean;
  /** Undefined where the code names none. */
  readonly priority: number | undefined;
  /** Stands before the names of a pipe's several models: `export const name`. */
  readonly prefix: string;
  /** A pipe's models or an action's buttons; "dynamic" when a function lists them; undefined when there is one only. */
  readonly items: readonly SubItem[] | "dynamic" | undefined;
}

/** Reads a loaded module. Throws AppError `invalid` when it is none of the four types or declares nonsense. */
export function toFacts(shape: ModuleShape): FunctionFacts {
  const exports = new Set(shape.functions);
  const type = toType(exports);
  const common = toCodeFacts(shape);
  const { manifest } = common;
  // The header comment has texts only.
  const flag = (name: string) => [true, "true"].includes((shape.data[name] ?? manifest[name]) as never);
  return {
    ...common,
    type,
    exports,
    toggle: flag("toggle"),
    tasks: flag("tasks"),
    fileHandler: flag("file_handler"),
    priority: toPriority(manifest["priority"]),
    prefix: toText(shape.data["name"]) ?? "",
    items: toItems(shape, type),
  };
}

/** Reads what code of every kind declares. Throws AppError `invalid` when it declares nonsense. */
export function toCodeFacts(shape: ModuleShape): CodeFacts {
  const meta = toObject(shape.data["meta"]);
  const manifest = { ...shape.header, ...meta };
  return {
    manifest,
    description: toText(manifest["description"]) ?? "",
    icon: toText(shape.data["icon"] ?? meta["icon"] ?? manifest["icon_url"]) ?? null,
    capabilities: toCapabilities(meta["capabilities"]),
    valves: toValves(shape.data["valves"], "Valves"),
    userValves: toValves(shape.data["userValves"], "UserValves"),
  };
}

const mostItems = 1_000;

/** A list of `{id, name}`, as `pipes` and `actions` give it. Throws AppError `invalid` for anything else. */
export function toSubItems(value: unknown, name: string): readonly SubItem[] {
  if (!Array.isArray(value)) {
    throw new AppError("invalid", `${name} must be a list of {id, name}.`);
  }
  if (value.length > mostItems) {
    throw new AppError("invalid", `${name} may list at most ${mostItems}.`);
  }
  return value.map((entry: unknown) => {
    const item = toObject(entry);
    const id = toText(item["id"]) ?? "";
    if (id === "") {
      throw new AppError("invalid", `Each entry of ${name} needs an id.`);
    }
    return { id, name: toText(item["name"]) ?? id, icon: toText(item["icon_url"] ?? item["icon"]) ?? null };
  });
}

const filterHooks = ["inlet", "stream", "outlet"];

function toType(exports: ReadonlySet<string>): FunctionType {
  if (exports.has("pipe")) {
    return "pipe";
  }
  if (filterHooks.some((hook) => exports.has(hook))) {
    return "filter";
  }
  const type = (["action", "event"] as const).find((name) => exports.has(name));
  if (type === undefined) {
    throw new AppError(
      "invalid",
      "The code exports none of the functions pipe, inlet, stream, outlet, action and event.",
    );
  }
  return type;
}

function toItems({ data, functions }: ModuleShape, type: FunctionType): FunctionFacts["items"] {
  const name = type === "pipe" ? "pipes" : type === "action" ? "actions" : undefined;
  if (name === undefined) {
    return undefined;
  }
  if (type === "pipe" && functions.includes(name)) {
    return "dynamic";
  }
  return data[name] === undefined ? undefined : toSubItems(data[name], name);
}

/** The capabilities in the record of a function; none where the record holds nonsense. */
export function declaredCapabilities(meta: Readonly<Record<string, unknown>>): Capabilities {
  try {
    return toCapabilities(toObject(meta["manifest"])["capabilities"]);
  } catch {
    return { fetch: [], complete: false, storage: false };
  }
}

function toCapabilities(value: unknown): Capabilities {
  const { fetch = [], complete = false, storage = false } = toObject(value);
  if (!Array.isArray(fetch)) {
    throw new AppError("invalid", "meta.capabilities.fetch must be a list of hosts.");
  }
  for (const host of fetch) {
    if (
      typeof host !== "string" ||
      !/^(?:\*\.)?(?:[^\s/:*@?#[\]]+|\[[\da-f:.]+\])(?::(?:\d+|\*))?$/i.test(host)
    ) {
      const shown = JSON.stringify(host);
      throw new AppError(
        "invalid",
        `meta.capabilities.fetch names hosts such as "api.example.com", not ${shown}.`,
      );
    }
  }
  for (const [name, flag] of Object.entries({ complete, storage })) {
    if (typeof flag !== "boolean") {
      throw new AppError("invalid", `meta.capabilities.${name} must be true or false.`);
    }
  }
  return {
    fetch: fetch.map((host: string) => host.toLowerCase()),
    complete: complete === true,
    storage: storage === true,
  };
}

function toValves(declared: Json | undefined, title: string): ValveSet | undefined {
  return declared === undefined ? undefined : createValveSet(declared, title);
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toPriority(value: unknown): number | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    throw new AppError("invalid", "meta.priority must be a number.");
  }
  return number;
}
