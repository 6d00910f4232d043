import type ivm from "isolated-vm";
import type { BootedContext, Receive } from "./bridge-functions.ts";
import { type Cell, toTimeoutError } from "./cell.ts";
import { applyCopied, type Copied } from "../batching/transfer.ts";
import { limits } from "../limits.ts";
import type { Receiver } from "./message.ts";
import { type ModuleShape, SandboxError, type Script } from "#kernel/sandbox.ts";
import { toShape, toUnfinished } from "./shape.ts";
import { requireStoppable, sourceName, toImportPosition, toPosition } from "./source.ts";
import type { Code } from "./typescript.ts";

export interface RealmOptions {
  readonly cell: Cell<Realm>;
  readonly script: Script;
  /** Names the source: a realm serves one. */
  readonly key: string;
  readonly compiled: Code;
  /** A line that the code wrote. */
  log(level: string, text: string): void;
}

/** Texts of the engine that say too little. */
const hints: ReadonlyMap<string, string> = new Map([
  ["Not supported", "import() is not available here: a function has no imports."],
  ["fetch is not defined", "fetch is not defined: ask host.fetch, with the host in meta.capabilities.fetch."],
  ["require is not defined", "require is not defined: a function has no imports, only what its host offers."],
  ["process is not defined", "process is not defined: a function reaches nothing but what its host offers."],
]);

/** The context of one script: its module, evaluated, and the entries of its bridge (inside/bootstrap.js). */
export class Realm {
  readonly id: string;
  readonly key: string;
  readonly cell: Cell<Realm>;
  readonly calls = new Map<number, Receiver>();
  /** Host functions that have not answered, whichever call asked. */
  asked = 0;
  /** Runs whose stream hooks live here. */
  streams = 0;
  /** By run: the JSON of a lazy member, which its stream hook asks for when it reads it. */
  readonly lazyMembers = new Map<number, (name: string) => string | undefined>();
  usedAt = performance.now();
  isRetired = false;
  shape!: ModuleShape;
  readonly #options: RealmOptions;
  #booted: BootedContext | undefined;

  /** Compiles and evaluates. Throws SandboxError; a SyntaxError of the compiler comes as kind "syntax". */
  static async open(options: RealmOptions): Promise<Realm> {
    const realm = new Realm(options);
    try {
      await realm.#open();
      return realm;
    } catch (error) {
      realm.#release();
      throw realm.toError(error);
    }
  }

  private constructor(options: RealmOptions) {
    this.#options = options;
    this.cell = options.cell;
    this.id = options.script.id;
    this.key = options.key;
  }

  isIdle(): boolean {
    return this.calls.size === 0 && this.streams === 0;
  }

  /** True when it can serve no more calls. */
  get isClosed(): boolean {
    return this.cell.isGone || this.#booted === undefined;
  }

  /**
   * Enters a call that has begun, on a thread of the isolate, for at most `timeout` milliseconds. Rejects with
   * SandboxError.
   */
  async run(
    entry: "answer" | "end" | "pull" | "tick",
    args: readonly (string | number | boolean | undefined)[],
    timeout: number = limits.sliceMs,
  ): Promise<void> {
    this.usedAt = performance.now();
    try {
      await this.cell.enter(this, async () => {
        await this.#booted?.get(entry).apply(undefined, [...args], { timeout });
      });
    } catch (error) {
      throw this.toError(error);
    }
  }

  /** Begins a call on a thread of the isolate (inside/calls.js); what becomes of it comes as messages. Rejects with SandboxError. */
  async begin(call: Copied, timeout: number): Promise<void> {
    this.usedAt = performance.now();
    try {
      await this.cell.enter(this, async () => {
        await this.#booted?.get("enter").apply(undefined, [call], { timeout, arguments: { copy: true } });
      });
    } catch (error) {
      throw this.toError(error);
    }
  }

  /**
   * Begins a call on the event loop's own thread. How it ended is told to its receiver before this returns, if it did.
   * Throws SandboxError.
   */
  beginInline(call: Copied, timeout: number): void {
    this.usedAt = this.cell.usedAt = performance.now();
    try {
      const enter = this.#booted?.get("enter");
      const [kind, text] = enter ? applyCopied(enter, call, timeout) : [];
      if (kind !== undefined) {
        const ending = {
          kind: String(kind),
          text: String(text) || undefined,
          name: undefined,
          at: undefined,
        };
        this.calls.get(Number(call[0]))?.receive(ending);
      }
    } catch (error) {
      throw this.toError(this.cell.explain(error, this));
    }
  }

  log(level: string, text: string): void {
    this.#options.log(level, text);
  }

  /** Binds the stream hook of the module to a run, for the router of the isolate (inside/stream-hook.js). */
  streamBinder(): ivm.Reference {
    if (this.cell.isGone || this.#booted === undefined) {
      throw new SandboxError("timeout", "The code was stopped.");
    }
    return this.#booted.get("bindStreamHook");
  }

  /** Ends all calls with an error that says why. */
  failAll(error: SandboxError): void {
    for (const receiver of this.calls.values()) {
      receiver.fail(error);
    }
    this.calls.clear();
  }

  /** New calls get another context; this one goes when its last call has ended. */
  retire(): void {
    if (!this.isRetired) {
      this.isRetired = true;
      this.cell.dropped += 1;
      if (this.cell.realms.get(this.id) === this) {
        this.cell.realms.delete(this.id);
      }
      if (!this.cell.isGone) {
        this.cell.leaving.add(this);
      }
    }
    this.leave();
  }

  /** Called when a call or a stream ended. */
  leave(): void {
    if (this.isRetired && this.isIdle()) {
      this.cell.leaving.delete(this);
      this.#release();
    }
  }

  /** Gives an error of the isolate its kind and its position in the author's source. */
  toError(error: unknown): SandboxError {
    if (error instanceof SandboxError) {
      return error;
    }
    const isError = error instanceof Error;
    const message = isError ? error.message : `The code threw ${String(error)}.`;
    if (message === "Script execution timed out.") {
      return toTimeoutError();
    }
    const at = toPosition(isError ? String(error.stack) : "", this.#options.compiled.positions);
    return new SandboxError(
      isError && error.name === "SyntaxError" ? "syntax" : "thrown",
      hints.get(message) ?? message,
      at,
    );
  }

  /** The error that code reported about itself. */
  toReported(kind: SandboxError["kind"], text: string | undefined): SandboxError {
    const { message = "", stack = "" } = JSON.parse(text ?? "{}") as { message?: string; stack?: string };
    const error = this.toError(Object.assign(new Error(message), { stack }));
    return new SandboxError(kind, error.message || "The code failed without saying why.", error);
  }

  async #open(): Promise<void> {
    const { cell, compiled, script } = this.#options;
    const onLoop = cell.lane === "streams";
    const { isolate } = cell;
    const timeout = onLoop ? limits.streamLoadMs : limits.sliceMs;
    const step = <T>(run: () => T | Promise<T>): Promise<T> => cell.enter(this, async () => run());

    const filename = { filename: sourceName };
    const module = await step(() =>
      onLoop
        ? isolate.compileModuleSync(compiled.code, filename)
        : isolate.compileModule(compiled.code, filename),
    );
    refuseImports(script.source, module.dependencySpecifiers);
    requireStoppable(script.source);
    const booted = await step(() => cell.context());
    this.#booted = booted;
    booted.serve(this.#receive);
    const { context } = booted;
    const refuse = (specifier: string): never => {
      throw new SandboxError("syntax", `"${specifier}" cannot be imported.`);
    };
    await step(() =>
      onLoop ? module.instantiateSync(context, refuse) : module.instantiate(context, refuse),
    );
    await step(() => (onLoop ? module.evaluateSync({ timeout }) : module.evaluate({ timeout })));
    const adopt = booted.get("adopt");
    const told = await step(async () => {
      const args = [module.namespace.derefInto()];
      return onLoop
        ? adopt.applySync(undefined, args, { timeout })
        : adopt.apply(undefined, args, { timeout });
    }).catch((error: unknown) => {
      throw toUnfinished(error);
    });
    module.release();
    this.shape = toShape(String(told), script.source);
  }

  readonly #receive: Receive = (kind, id, text, name, at) => {
    if (kind === "later") {
      return this.lazyMembers.get(Number(id))?.(String(name));
    }
    const receiver = this.calls.get(Number(id));
    if (kind === "member") {
      return receiver?.member?.(String(name));
    }
    if (kind === "log") {
      const [level, line] = [String(name), String(text)];
      return receiver?.hold ? receiver.hold(level, line) : this.log(level, line);
    }
    receiver?.receive({
      kind: String(kind),
      text: typeof text === "string" ? text : undefined,
      name: typeof name === "string" || typeof name === "number" ? name : undefined,
      at: typeof at === "number" ? at : undefined,
    });
  };

  #release(): void {
    if (!this.cell.isGone) {
      this.#booted?.release();
    }
    this.#booted = undefined;
  }
}

function refuseImports(source: string, specifiers: readonly string[]): void {
  const [first] = specifiers;
  if (first !== undefined) {
    const message = `"${first}" cannot be imported: a function has no imports, only what its host offers.`;
    throw new SandboxError("syntax", message, toImportPosition(source, first));
  }
}
