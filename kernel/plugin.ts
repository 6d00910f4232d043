import type { InstallationCommand } from "./installation.ts";
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { Values, Variables } from "#config/variable.ts";
import type { CoreTables } from "#storage/core-tables.ts";
import type { ExistingResources } from "#storage/grant-sweep.ts";
import type { Permission } from "./access/permissions.ts";
import type { ModelProvider } from "./completion/provider.ts";
import type { AnyRoute } from "./http/route.ts";
import type { Surface } from "./http/surfaces.ts";
import type { Job } from "./jobs.ts";
import type { Logger } from "./log.ts";
import type { Filter, FilterSource } from "./pipeline/filter.ts";
import type { Page } from "./page.ts";
import type { Filled, OptionalRef, Provided, ServiceRef, Slot, SlotRef } from "./service.ts";
import type { SocketHandler } from "./sockets/handler.ts";
import type { Tool, ToolSource } from "./tools/tool.ts";

// The shapes below unite plugins of every type; only `any` lets a registry hold them all.
// oxlint-disable typescript/no-explicit-any

/** Dependencies of a plugin, by the name it uses inside. */
export type Uses = Readonly<Record<string, ServiceRef<any> | OptionalRef<any> | SlotRef<any>>>;

/** Resolved dependencies: an optional one may be missing, and the type says so. */
export type Resolved<U extends Uses> = {
  readonly [K in keyof U]: U[K] extends OptionalRef<infer T>
    ? T | undefined
    : U[K] extends SlotRef<infer T>
      ? Slot<T>
      : U[K] extends ServiceRef<infer T>
        ? T
        : never;
};

/** A plugin's tables: names at run time, row types for the checker. */
export interface Tables<T> {
  readonly names: readonly (keyof T & string)[];
  readonly rows?: T;
}

/** Names a plugin's tables; their row types come as the type argument. */
export function tables<T>(...names: (keyof T & string)[]): Tables<T> {
  return { names };
}

/** A database handle that knows the plugin's own and the core tables, and no others. */
export type PluginDatabase<T> = Kysely<T & CoreTables>;

/** The argument of `setup`. */
export interface PluginContext<V extends Variables, U extends Uses, T> {
  /** Live values: a persisted variable is read at the time of use. */
  readonly config: Values<V>;
  readonly use: Resolved<U>;
  readonly db: PluginDatabase<T>;
  /** The one way to open a transaction; the callback awaits nothing but queries on `tx`. */
  transaction<R>(run: (tx: PluginDatabase<T>) => Promise<R>): Promise<R>;
  readonly log: Logger;
  /** Aborted when the host stops. */
  readonly signal: AbortSignal;
}

/** The argument of a command. */
export interface CommandContext<V extends Variables, T> {
  readonly config: Values<V>;
  readonly db: PluginDatabase<T>;
  /** `--name value` as given; a flag without a value is an empty text. */
  readonly options: Readonly<Record<string, string>>;
  /** Announces to running replicas, so that their caches follow. */
  notify(channel: string, payload: unknown): Promise<void>;
  print(line: string): void;
}

/** Something an operator runs from the command line: `npm start -- <name> --option value`. */
export interface Command<V extends Variables = Variables, T = never> {
  readonly name: string;
  readonly summary: string;
  /** Option name → what it means, for the help text. */
  readonly options: Readonly<Record<string, string>>;
  run(context: CommandContext<V, T>): Promise<void>;
}

/** The result of `setup`. The host fills its registries from it; plugins never do. */
export interface Contributions {
  readonly routes?: Partial<Record<Surface, readonly AnyRoute[]>>;
  readonly filters?: readonly (Filter | FilterSource)[];
  readonly tools?: readonly (Tool | ToolSource)[];
  readonly providers?: readonly ModelProvider[];
  readonly jobs?: readonly Job[];
  /** By the event that clients emit over a socket. */
  readonly sockets?: Readonly<Record<string, SocketHandler>>;
  readonly services?: readonly Provided[];
  readonly fills?: readonly Filled[];
  /** By type of `resources`: which of some ids still exist, so that grants of rows that are gone can be swept. */
  readonly resources?: ExistingResources;
  /** Runs once every plugin is set up and the slots are open, before the listener starts. */
  start?(): Promise<void> | void;
  /** Runs when a stop was asked for, while open answers get their time: work that needs no client ends within `graceMs`. */
  drain?(graceMs: number): Promise<void>;
  /** Runs when the host stops, in reverse order of setup. */
  stop?(): Promise<void> | void;
}

export interface Plugin<V extends Variables, U extends Uses, T, C extends Contributions> {
  /** Folder name, migration ledger and log prefix. */
  readonly id: string;
  readonly title: string;
  /** One sentence for administrators: what it does. */
  readonly summary?: string;
  readonly config?: V;
  readonly uses?: U;
  readonly provides?: readonly ServiceRef<any>[];
  readonly tables?: Tables<T>;
  readonly migrations?: Readonly<Record<string, Migration>>;
  readonly permissions?: readonly Permission[];
  /** Kinds of rows that can carry access grants. */
  readonly resources?: readonly string[];
  /** Pages of the interface; their modules stand in the plugin's `web/` folder. */
  readonly pages?: readonly Page[];
  readonly commands?: readonly Command<V, T>[];
  readonly installationCommands?: readonly InstallationCommand[];
  /** Folders of files that belong into a backup, by the name that they have there. */
  folders?(config: Values<V>): Readonly<Record<string, string>>;
  /** Asked on every use; false switches routes, tools, filters and jobs off while data stays. */
  enabled?(config: Values<V>): boolean;
  /** Status the plugin's routes answer while it is switched off; 403 when left out. */
  readonly whenOff?: 401 | 403 | 404 | 503;
  setup(context: PluginContext<V, U, T>): C | Promise<C>;
}

export type AnyPlugin = Plugin<any, any, any, any>;

/** Declares a plugin: static facts and one setup that returns its contributions. */
export function definePlugin<
  const V extends Variables = Record<never, never>,
  const U extends Uses = Record<never, never>,
  T = Record<never, never>,
  C extends Contributions = Contributions,
>(plugin: Plugin<V, U, T, C>): Plugin<V, U, T, C> {
  return plugin;
}
