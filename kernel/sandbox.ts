import { defineService } from "./service.ts";

/** JSON that crosses the border: copies only, never a live object. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A stream that a host function answers with: items as they come, those that are ready together in one batch. */
export type Batches = AsyncIterable<readonly Json[]>;

/** One piece of user code. */
export interface Script {
  /** Whose isolate it runs in: one per owner, so that a memory overrun hurts nobody else. */
  readonly owner: string;
  /** Names the function or tool in logs, errors and the console it keeps; unique over all owners. */
  readonly id: string;
  /** JavaScript or TypeScript, ES module syntax, no imports (contract D.28). */
  readonly source: string;
}

/** What a module exports, read once when it is loaded. */
export interface ModuleShape {
  /** Names of the exported functions, e.g. ["inlet", "stream"]. */
  readonly functions: readonly string[];
  /** The exports that are plain data (meta, valves, userValves, pipes, actions, toggle, icon …), as JSON. */
  readonly data: Readonly<Record<string, Json>>;
  /** `key: value` lines of the leading block comment. */
  readonly header: Readonly<Record<string, string>>;
  /** For each function of the exported `tools` object: its description and parameters, without `run`. */
  readonly tools: Readonly<Record<string, Json>>;
  /** JSDoc of the exported functions by name, raw, for tools that describe themselves that way. */
  readonly comments: Readonly<Record<string, string>>;
}

/** One thing that the host does for code. A rejection's message reaches the code: throw AppErrors only. */
export type HostFunction = (...args: readonly Json[]) => Promise<Json | undefined | Batches>;

/**
 * What `host` offers to one call. Every function is made by who calls and acts as the caller, never as the system.
 * A missing one answers the code with "not available here". A name with a dot stands in a group: `storage.get` is
 * `host.storage.get`. What answers an async iterable of batches gives the code an async iterable of their items; it is
 * left when the call ends.
 */
export interface Host {
  /** Without blanks in them. */
  readonly names: readonly string[];
  /** Makes the functions, when the code asks for the first: most calls never do. */
  open(): Readonly<Record<string, HostFunction>>;
}

/** Further members of the context object: each answers its JSON when the code reads it; most calls never do. */
export type LazyMembers = Readonly<Record<string, () => string>>;

export interface CallOptions {
  /** The name of an exported function; `tools.<name>` for the run function of a tool. */
  readonly name: string;
  /** Plain JSON values; the last one is usually the context object, to which the sandbox adds `host`. */
  readonly args: readonly unknown[];
  /**
   * The JSON of an object whose members the context has, too, frozen in depth: calls of one script with the same text
   * share the value.
   */
  readonly shared?: string | undefined;
  readonly lazyMembers?: LazyMembers | undefined;
  readonly host: Host;
  readonly signal?: AbortSignal | undefined;
  /**
   * For hooks that are called often and answer at once: the call is tried on the event loop's own thread, which is a
   * tenth of the work. One that takes long there, waits, or asks a host function begins again on a thread before
   * anything that it asked for is done; so do later calls of that source for some minutes.
   */
  readonly isHook?: boolean | undefined;
  /** The answer is not wanted: it need not be JSON. */
  readonly discardResult?: boolean | undefined;
  /**
   * Milliseconds in all, waiting for host functions included (30 s when left out); for `iterate` between two items that
   * were asked for (60 s). Within that, code has the processor for at most 1 s between two waits.
   */
  readonly deadlineMs?: number | undefined;
}

/** Stream hooks of one owner, one after another. */
export interface StreamChain {
  /**
   * Takes the chunks of one batch, as JSON, through the hooks in order. Each hook gets values that were made in its own
   * context; nothing but text goes from one to the next. Dropped chunks are missing in the answer. A hook that throws or
   * overruns is left out from that chunk on and told to `failed`. Never rejects.
   */
  push(chunks: readonly string[]): Promise<readonly string[]>;
  close(): void;
}

export interface StreamLink {
  readonly script: Script;
  /** The JSON of the context object, which runs may share like calls do. */
  readonly shared: string;
  /** A hook that reads a member of more than a million characters gets an error. */
  readonly lazyMembers?: LazyMembers | undefined;
  failed(error: Error): void;
}

/** A line that code wrote with `console` or `host.log`. */
export interface LogLine {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/**
 * Runs user code in isolates: one isolate per owner, one context per script and source. Failures of the code are
 * SandboxErrors; they never take the process or another owner's code with them (architecture.md §4).
 *
 * Functions share nothing, not even those of one owner: values are made from JSON in the context of the code that gets
 * them. Variables of a module live as long as its context: until the source changes, an overrun, or a long time without
 * use. They are shared by the calls of all users, but may exist twice: stream hooks, and short calls of hooks, run in a
 * second isolate on the event loop's own thread. `metadata` is the way from one hook to another. `host` and the context
 * object belong to one call and answer nothing once it has ended. docs/functions.md lists what else code finds.
 */
export interface Sandbox {
  /** Compiles and evaluates the source and describes it. Throws SandboxError with line and column. */
  load(script: Script): Promise<ModuleShape>;
  /** Calls an exported function and waits for its answer, undefined when it returned nothing. */
  call(script: Script, options: CallOptions): Promise<Json | undefined>;
  /** Calls an exported function whose answer may be a (sync or async) generator: its items as they come. */
  iterate(script: Script, options: CallOptions): AsyncIterable<Json | undefined>;
  /** Opens the stream hooks of one owner for one run; all links have the same owner. */
  openStream(links: readonly StreamLink[]): Promise<StreamChain>;
  /** The last lines that a script wrote, oldest first. */
  logs(id: string): readonly LogLine[];
  /** Adds a line to what a script wrote, such as why it failed. */
  note(id: string, level: LogLine["level"], text: string): void;
  /** Drops the contexts of a script that was changed or deleted. */
  forget(id: string): void;
  /**
   * Told when a script used up its third overrun within a minute, or held up the event loop for long: its owner plugin
   * switches it off. The reason goes on after "because".
   */
  onRepeatedOverrun(handler: (id: string, reason: string) => void): void;
  close(): Promise<void>;
}

export const sandbox = defineService<Sandbox>("sandbox");

/** Why a piece of user code failed. `message` may be shown to its author and to who called it. */
export class SandboxError extends Error {
  readonly kind: "syntax" | "thrown" | "timeout" | "memory" | "value" | "missing";
  /** 1-based position in the source, where it is known. */
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(
    kind: SandboxError["kind"],
    message: string,
    at: { line?: number | undefined; column?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, at.cause === undefined ? undefined : { cause: at.cause });
    this.name = "SandboxError";
    this.kind = kind;
    this.line = at.line;
    this.column = at.column;
  }
}
