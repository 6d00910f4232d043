// What a function sees: types for editors and type checkers. The two files named below belong to it. Load them in a
// JavaScript file with
//
//     // @ts-check
//     /// <reference path="functions.d.ts" />
//
// and name the type of each hook: /** @type {Millrace.Inlet<typeof valves>} */. docs/functions.md explains the rest.

/* oxlint-disable typescript/triple-slash-reference -- an import would make this a module, and its names no globals */
/// <reference path="functions.wire.d.ts" />
/// <reference path="functions.globals.d.ts" />

declare namespace Millrace {
  /** Whatever JSON can say. Only this crosses the border of the sandbox, as copies. */
  type Json =
    | null
    | boolean
    | number
    | string
    | readonly Json[]
    | { readonly [key: string]: Json | undefined };

  // ---------------------------------------------------------------------------------------------- what a module says

  /** `export const meta`: what the function is. The leading comment may say the same as `key: value` lines. */
  interface Meta {
    description?: string;
    /** Filters run by priority, lowest first; a saved valve named `priority` wins over this. Default 0. */
    priority?: number;
    /** A filter that people switch on themselves: it runs only for requests that name it in `filter_ids`. */
    toggle?: boolean;
    /** Address or data URL of a picture. */
    icon?: string;
    /** A filter whose inlet and outlet take part in background tasks (titles, tags, summaries …), with `ctx.task`. */
    tasks?: boolean;
    /** A filter that deals with attached files itself: they are taken out of the request after its inlet. */
    file_handler?: boolean;
    capabilities?: Capabilities;
    /** Title, author, version, license and whatever else you want to tell. */
    [key: string]: unknown;
  }

  /** What `host` may do. What is not declared is refused. */
  interface Capabilities {
    /** Hosts for `host.fetch`: `api.example.com`, `example.com:8443`, `example.com:*` (any port), `*.example.com`. */
    fetch?: string[];
    /** Whether `host.complete` may be used. */
    complete?: boolean;
    /** Whether `host.storage` may be used. */
    storage?: boolean;
  }

  /** `export const valves` and `export const userValves`: JSON Schema properties by name, with defaults. */
  type Valves = { readonly [name: string]: Valve };

  /** One setting. */
  interface Valve extends Schema {
    /** What the code sees until somebody saves another value. Without it the value may be undefined. */
    readonly default?: unknown;
    /** How the form shows it. */
    readonly input?: {
      readonly type: "password" | "select" | "multiselect";
      /** A list, or the name of an exported function that gives one for the user who looks. */
      readonly options?: string | readonly (string | { readonly value: string; readonly label: string })[];
    };
  }

  /** Any further JSON Schema keyword may stand here too. */
  interface Schema {
    readonly type?: "string" | "integer" | "number" | "boolean" | "array" | "object";
    readonly title?: string;
    readonly description?: string;
    readonly enum?: readonly (string | number)[];
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly pattern?: string;
    readonly items?: Schema;
    readonly [keyword: string]: unknown;
  }

  /** The values of declared valves: `ValvesOf<typeof valves>`. */
  type ValvesOf<V> = {
    readonly [K in keyof V]: V[K] extends { default: unknown } ? ValueOf<V[K]> : ValueOf<V[K]> | undefined;
  };

  /** The value of one valve. */
  type ValueOf<S> = S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { type: "string" }
      ? string
      : S extends { type: "integer" | "number" }
        ? number
        : S extends { type: "boolean" }
          ? boolean
          : S extends { type: "array" }
            ? S extends { items: infer I }
              ? readonly ValueOf<I>[]
              : readonly Json[]
            : S extends { type: "object" }
              ? { readonly [key: string]: Json }
              : unknown;

  /** One model of a pipe, or one button of an action: an entry of `pipes` or `actions`. */
  interface SubItem {
    id: string;
    name: string;
    icon_url?: string;
  }

  // ------------------------------------------------------------------------------------------------------- the hooks
  // Write /** @type {Millrace.Stream<typeof valves>} */ above a function, and above an async one, which has to be a
  // constant, /** @satisfies {Millrace.Inlet<typeof valves>} */ export const inlet = async (body, ctx) => …

  /**
   * `export function inlet(body, ctx)`: before the model is asked. Gets a copy of the request and returns the one to
   * use; nothing keeps it. An error ends the request, and the caller reads its message.
   */
  type Inlet<V = {}, U = {}> = (body: Request, ctx: Context<V, U>) => Awaitable<Request | undefined | void>;

  /**
   * `export function stream(event, ctx)`: on every chunk of a streamed answer, at once, never async. Returns the chunk
   * to send, null to drop it, nothing to keep it. `ctx` is the same object for all chunks of a run. Host functions
   * other than `log` are refused here.
   */
  type Stream<V = {}, U = {}> = (event: Chunk, ctx: Context<V, U>) => Chunk | null | undefined | void;

  /**
   * `export function outlet(body, ctx)`: on the finished conversation, as it is stored or was sent, whose last message is
   * the reply. Returns the one to store; nothing keeps it. An HTTP answer is out by then and does not change.
   */
  type Outlet<V = {}, U = {}> = (
    body: Conversation,
    ctx: Context<V, U>,
  ) => Awaitable<Conversation | undefined | void>;

  /**
   * `export function pipe(body, ctx)`: answers as a model. Returns a text, a completion or a chunk, or is a generator
   * of texts, chunks or lines of an event stream; `{ error: { message } }` fails. `ctx.id` is the sub id of one of
   * several `pipes`. `body.metadata` is not there: it is `ctx.metadata`.
   */
  type Pipe<V = {}, U = {}> = (
    body: Request,
    ctx: Context<V, U>,
  ) => Awaitable<PipeItem> | AsyncIterable<PipeItem> | Iterable<PipeItem>;

  /** What a pipe may give. An object that is none of these is shown as JSON. */
  type PipeItem =
    | string
    | number
    | Partial<Chunk>
    | Partial<Completion>
    | { error: Json }
    | null
    | undefined
    | void;

  /** `export function pipes(ctx)`: the models of a pipe with several, when they are not always the same. */
  type Pipes<V = {}> = (ctx: Context<V>) => Awaitable<SubItem[]>;

  /**
   * `export function action(body, ctx)`: a button below a message. What it returns is the answer of the request;
   * clients put `{ messages: [{ id, content }] }` into the chat. An error is shown to who pressed the button.
   */
  type Action<V = {}, U = {}> = (
    body: ActionBody,
    ctx: Context<V, U>,
  ) => Awaitable<ActionResult | Json | undefined | void>;

  /** `export function event(event, ctx)`: told of what happens on the platform. What it returns is not used. */
  type Event<V = {}> = (event: SystemEvent, ctx: EventContext<V>) => Awaitable<unknown>;

  type Awaitable<T> = T | Promise<T>;

  // ----------------------------------------------------------------------------------------------------- the context

  /** The last argument of every hook. It is frozen. */
  interface Context<V = {}, U = {}> {
    /** Who calls; null when the server itself acts. */
    readonly user: User | null;
    /**
     * Notes of the request: what inlet returns as `metadata` arrives in stream and outlet of the same run. In filters and
     * pipes also the facts of the run that functions.md lists.
     */
    readonly metadata: Record<string, Json | undefined>;
    /** The model that the caller named; null where there is none. */
    readonly model: { readonly id: string; readonly meta?: Readonly<Record<string, Json>> } | null;
    /** Saved values over defaults. */
    readonly valves: ValvesOf<V>;
    /** The caller's own values over defaults. */
    readonly userValves: ValvesOf<U>;
    readonly chat_id: string | null;
    readonly message_id: string | null;
    readonly session_id: string | null;
    readonly files: readonly Json[];
    readonly features: Readonly<Record<string, Json>>;
    /** The background task that asks, such as `title_generation`; null for people. */
    readonly task: string | null;
    /** The function's own id, or the sub id of a pipe or an action. */
    readonly id: string;
    readonly host: Host;
  }

  interface EventContext<V = {}> extends Context<V> {
    /** Such as `user.created`. */
    readonly event_name: string;
    readonly event_id: string;
    readonly app: { readonly name: string; readonly version: string; readonly instance_id: string };
  }

  interface User {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly role: "admin" | "user" | "pending";
  }

  // -------------------------------------------------------------------------------------------------------- the host

  /**
   * The way out of the sandbox. Everything is done as the caller, and what a function asks for ends with its call. A
   * failure is an Error with a text.
   */
  interface Host {
    /** Writes a line that administrators read with the console's: `GET /api/v1/functions/id/{id}/logs`. */
    log(level: "debug" | "info" | "warn" | "error", text: Json): Promise<void>;
    log(text: Json): Promise<void>;
    /** Sends an event to the caller's open clients, such as `{ type: "status", data: { description, done } }`. */
    emit(event: { type: string; data?: Json }): Promise<void>;
    /** Asks the caller in the client that the call came from. Fails when there is none. */
    ask(question: { type: "confirmation"; title: string; message?: string }): Promise<boolean>;
    ask(question: Question): Promise<Json>;
    /** Needs `fetch: [hosts]`. Private addresses are refused and redirects are not followed. */
    fetch(url: string, init?: FetchInit): Promise<FetchAnswer>;
    /**
     * Asks a model as the caller. Needs `complete: true`. The function itself takes no part in that run as a filter.
     * With `stream: true` the answer's chunks come one by one: `for await (const chunk of await host.complete(…))`.
     */
    complete(request: Request & { stream: true }): Promise<AsyncIterableIterator<Chunk>>;
    complete(request: Request & { stream?: false | null | undefined }): Promise<Completion>;
    /** The function's own key-value store. Needs `storage: true`. */
    readonly storage: Storage;
  }

  interface Question {
    type: "input" | "confirmation" | (string & {});
    title?: string;
    message?: string;
    placeholder?: string;
    value?: Json;
    [key: string]: Json | undefined;
  }

  interface FetchInit {
    method?: string;
    headers?: Record<string, string>;
    /** An object is sent as JSON. */
    body?: Json;
  }

  interface FetchAnswer {
    status: number;
    /** Whether the status is one of 200 to 299. */
    ok: boolean;
    headers: Record<string, string>;
    body: string;
  }

  /** Keys have 1 to 256 characters. With `{ user: true }` the values are the caller's alone; without, everybody's. */
  interface Storage {
    /** The value, null when there is none. */
    get(key: string, options?: StorageOptions): Promise<Json>;
    set(key: string, value: Json, options?: StorageOptions): Promise<void>;
    /** Whether there was one. */
    delete(key: string, options?: StorageOptions): Promise<boolean>;
    /** The keys that begin with `prefix`, in order. */
    list(prefix?: string, options?: StorageOptions): Promise<string[]>;
  }

  interface StorageOptions {
    user?: boolean;
  }
}
