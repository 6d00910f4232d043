import { credentialOf, rememberCredential } from "#kernel/access/credentials.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { providerWords } from "#kernel/http/provider-words.ts";
import type { Logger } from "#kernel/log.ts";
import type { Batches, Host, HostFunction, Json } from "#kernel/sandbox.ts";
import type { Capabilities } from "../calls/facts.ts";
import { type HostCall, requirePerson, toBag } from "./host-call.ts";
import type { HostComplete } from "./complete.ts";
import { type EventParts, toEventFunctions } from "./events.ts";
import type { createHostFetch } from "./fetch.ts";
import type { CodeStorage } from "./storage.ts";

export interface HostParts extends EventParts {
  /** The account as it is now; undefined when it is gone or may not act any more. */
  principalOf(userId: string): Promise<Principal | undefined>;
  readonly log: Logger;
  readonly fetch: ReturnType<typeof createHostFetch>;
  readonly complete: HostComplete;
  readonly storage: CodeStorage;
}

export type CreateHost = (call: HostCall) => Host;

const names = [
  "emit",
  "ask",
  "fetch",
  "complete",
  "storage.get",
  "storage.set",
  "storage.delete",
  "storage.list",
] as const;
type Functions = Readonly<Record<(typeof names)[number], HostFunction>>;

/**
 * Makes what `host` offers to one call. Everything is done as the caller, never as the system (promise S71), and only
 * what `meta.capabilities` declares; refusals are logged as audit lines (promise S69). Failures reach the code as
 * errors with a text.
 *
 * - `host.log(level, text)`: kept with the console lines (made by the sandbox).
 * - `host.emit({type, data})`: an event of contract 3.4 to the caller's open clients; what it leaves behind is stored
 *   with the message when the chat is.
 * - `host.ask({type: "confirmation" | "input", …})`: asks the caller's client and resolves with the answer.
 * - `host.fetch(url, {method, headers, body})`: needs `fetch: ["host"]`; see host-fetch.ts.
 * - `host.complete({model, messages, …})`: needs `complete: true`; an async iterable of chunks with `stream: true`; see
 *   host-complete.ts.
 * - `host.storage.get(key, {user})`, `.set(key, value, {user})`, `.delete(key, {user})`, `.list(prefix, {user})`: needs
 *   `storage: true`; with `user: true` the values are the caller's alone.
 */
export function createHostFactory(parts: HostParts): CreateHost {
  return (call) => {
    // Read now: the isolate's callbacks do not know which run they belong to.
    const waiting = parts.complete.waiting();
    return { names, open: () => toFunctions(parts, call, waiting) };
  };
}

function toFunctions(
  parts: HostParts,
  begun: HostCall,
  waiting: readonly string[],
): Readonly<Record<string, HostFunction>> {
  const call = { ...begun };
  const authorise = createAuthorise(parts, call);
  const functions: Functions = {
    ...toEventFunctions(parts, call),
    fetch: async (...args) => {
      requireDeclared(call.capabilities.fetch.length > 0, "fetch");
      return await parts.fetch({ hosts: call.capabilities.fetch, signal: call.signal }, args);
    },
    complete: async (...args) => {
      requireDeclared(call.capabilities.complete, "complete");
      const signal = call.signal ?? new AbortController().signal;
      const asking = { id: call.id, principal: requirePerson(call), signal, waiting };
      return await parts.complete.run(asking, args);
    },
    ...toStorageFunctions(parts.storage, call),
  };
  return Object.fromEntries(
    Object.entries(functions).map(([name, run]) => [name, toSafe(name, run, { parts, call, authorise })]),
  );
}

/** Milliseconds for which the rights of a caller are taken to be what they were. */
const trustMs = 1_000;

/** Gives a call that lasts the rights that its caller has now; what waits for them goes on in the order of its calls. */
function createAuthorise({ principalOf }: HostParts, call: { principal: HostCall["principal"] }) {
  let checkedAt = performance.now();
  const check = async (): Promise<void> => {
    const { principal } = call;
    if (principal === undefined || performance.now() - checkedAt < trustMs) {
      return;
    }
    const now = await principalOf(principal.userId);
    if (now === undefined) {
      throw new AppError("forbidden", "The account that called this function may not act any more.");
    }
    const { credential, session } = principal;
    const renewed = { ...now, credential, session };
    const shown = credentialOf(principal);
    if (shown !== undefined) {
      rememberCredential(renewed, shown);
    }
    call.principal = renewed;
    checkedAt = performance.now();
  };
  let last: Promise<void> = Promise.resolve();
  return (): Promise<void> => {
    const checked = last.then(check);
    last = checked.catch(() => undefined);
    return checked;
  };
}

function toStorageFunctions(storage: CodeStorage, call: HostCall) {
  const open = (options: Json | undefined) => {
    requireDeclared(call.capabilities.storage, "storage");
    const isOwn = toBag(options)["user"] === true;
    return { codeId: call.id, userId: isOwn ? requirePerson(call).userId : "" };
  };
  return {
    "storage.get": async (key?: Json, options?: Json) =>
      (await storage.get(open(options), key as string)) ?? null,
    "storage.set": async (key?: Json, value?: Json, options?: Json) => {
      await storage.set(open(options), key as string, value ?? null);
      return undefined;
    },
    "storage.delete": async (key?: Json, options?: Json) =>
      await storage.delete(open(options), key as string),
    "storage.list": async (prefix?: Json, options?: Json) =>
      await storage.list(open(options), String(prefix ?? "")),
  };
}

/** The code gets texts that were meant for it, and refusals stand in the log. */
function toSafe(
  name: string,
  run: HostFunction,
  { parts, call, authorise }: { parts: HostParts; call: HostCall; authorise(): Promise<void> },
): HostFunction {
  const toFailure = (error: unknown) => {
    const failure = toAppError(error, call.signal);
    if (failure.code === "forbidden") {
      const about = { audit: "denied", function: call.id, host: name, user: call.principal?.userId ?? null };
      parts.log.warn({ ...about, reason: failure.message }, "a function was refused what it asked for");
    } else if (failure.code === "unavailable" && !(error instanceof AppError)) {
      parts.log.error({ err: error, function: call.id, host: name }, "a host function failed");
    }
    return failure;
  };
  // No generator: one that was never begun would not close the stream.
  const toSafeBatches = (batches: Batches): Batches => ({
    [Symbol.asyncIterator]() {
      const inner = batches[Symbol.asyncIterator]();
      const next = () => inner.next().catch((error: unknown) => Promise.reject(toFailure(error)));
      const stop = async () => (await inner.return?.()) ?? { value: undefined, done: true as const };
      return { next, return: stop };
    },
  });
  return async (...args) => {
    try {
      await authorise();
      const answer = await run(...args);
      return isBatches(answer) ? toSafeBatches(answer) : answer;
    } catch (error) {
      throw toFailure(error);
    }
  };
}

function isBatches(value: Json | undefined | Batches): value is Batches {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function toAppError(error: unknown, signal: AbortSignal | undefined): AppError {
  if (error instanceof AppError) {
    return error;
  }
  if (signal?.aborted) {
    return new AppError("unavailable", "The call was ended.", { cause: error });
  }
  if (error instanceof ProviderError) {
    const words = providerWords(error.body)?.slice(0, 500) ?? "";
    return new AppError("upstream", `The provider answered ${error.status}: ${words}`, { cause: error });
  }
  return new AppError("unavailable", "The host could not do this.", { cause: error });
}

function requireDeclared(isDeclared: boolean, name: keyof Capabilities): void {
  if (!isDeclared) {
    throw new AppError("forbidden", `This code did not declare ${name} in meta.capabilities.`);
  }
}
