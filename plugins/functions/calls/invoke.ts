import { type MaybePromise, mapMaybe } from "#kernel/maybe-promise.ts";
import type { Logger } from "#kernel/log.ts";
import {
  type CallOptions,
  type Json,
  type Sandbox,
  SandboxError,
  type Script,
  type StreamChain,
} from "#kernel/sandbox.ts";
import type { ValveValues } from "../valves/valve-set.ts";
import type { CodeFacts } from "./facts.ts";
import {
  type CalledCode,
  type CallFacts,
  toContext,
  toParts,
  toStreamContext,
  toStreamLazyMembers,
} from "./call-context.ts";
import { toSandboxMessage } from "./load.ts";
import type { CreateHost } from "../host/create-host.ts";
import type { UserValves } from "../valves/user-valves.ts";

/** Code that is loaded and ready to be called: a function that is on, or a workspace tool. */
export interface ReadyCode extends CalledCode {
  readonly script: Script;
  readonly facts: Pick<CodeFacts, "capabilities" | "userValves">;
}

/** One call of an exported function with a body and the context. */
export interface Invocation extends Pick<CallOptions, "discardResult"> {
  readonly name: string;
  readonly body?: unknown;
  /** Stands in place of the body where a function has several arguments before its context. */
  readonly args?: readonly unknown[];
  readonly facts: CallFacts;
  /** Further keys of the context. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
}

/** Calls active functions with everything that belongs to a call: context, own valves, host, time limit. */
export interface Invoke {
  /** Filters and events: FUNCTION_HOOK_TIMEOUT_SECONDS. Throws SandboxError. */
  call(fn: ReadyCode, invocation: Invocation): MaybePromise<Json | undefined>;
  /** Pipes and actions, which may wait for models and people: FUNCTION_CALL_TIMEOUT_SECONDS. */
  callLong(fn: ReadyCode, invocation: Invocation): Promise<Json | undefined>;
  iterate(fn: ReadyCode, invocation: Invocation): AsyncIterable<Json | undefined>;
  /** Opens the stream hooks of functions of one owner. */
  openStream(functions: readonly ReadyCode[], facts: CallFacts): Promise<StreamChain>;
}

export interface InvokeParts {
  readonly sandbox: Sandbox;
  readonly host: CreateHost;
  readonly userValves: Pick<UserValves, "of">;
  readonly log: Logger;
  limits(): { readonly hookSeconds: number; readonly callSeconds: number };
}

const noValves: ValveValues = {};

interface CallTime {
  readonly seconds: number;
  readonly isHook?: boolean;
}

export function createInvoke({ sandbox, host, userValves, log, limits }: InvokeParts): Invoke {
  const toOwn = (fn: ReadyCode, { principal }: CallFacts) =>
    principal ? userValves.of(principal.userId, fn.id, fn.facts.userValves) : noValves;

  const begin = (fn: ReadyCode, invocation: Invocation, time: CallTime) =>
    mapMaybe(toOwn(fn, invocation.facts), (own) => open(fn, invocation, { ...time, own }));

  function open(
    fn: ReadyCode,
    { name, body, args = [body], facts, extra, signal: outer, discardResult }: Invocation,
    { seconds, isHook, own }: CallTime & { readonly own: ValveValues },
  ) {
    const { principal, chatId, messageId, sessionId } = facts;
    // A context that stands alone may be changed by the code.
    const parts = args[0] === undefined ? undefined : toParts(fn, facts, own);
    const { capabilities } = fn.facts;
    const { signal, end } = toScope(fn, outer);
    const options: CallOptions = {
      name,
      args: parts
        ? [...args, extra ? { ...parts.own, ...extra } : parts.own]
        : [{ ...toContext(fn, facts, own), ...extra }],
      shared: parts?.shared,
      lazyMembers: parts?.lazyMembers,
      host: host({ id: fn.id, capabilities, principal, chatId, messageId, sessionId, signal }),
      signal: outer,
      deadlineMs: seconds * 1000,
      isHook,
      discardResult,
    };
    return { options, end };
  }

  /** Failures stand in the console of the function, where its author looks. */
  const note = (fn: ReadyCode, hook: string, error: Error): void => {
    if (error instanceof SandboxError) {
      sandbox.note(fn.script.id, "error", `${hook}: ${toSandboxMessage(error)}`);
    }
  };
  const fail = (fn: ReadyCode, hook: string, error: unknown): never => {
    note(fn, hook, error as Error);
    throw error;
  };

  // Hooks are called for every request: nothing is waited for that is there, and each await would cost them.
  const call = (fn: ReadyCode, invocation: Invocation, time: CallTime) =>
    mapMaybe(begin(fn, invocation, time), ({ options, end }) => {
      const answer = sandbox
        .call(fn.script, options)
        .catch((error: unknown) => fail(fn, invocation.name, error));
      return end ? answer.finally(end) : answer;
    });

  return {
    call: (fn, invocation) => call(fn, invocation, { seconds: limits().hookSeconds, isHook: true }),
    callLong: async (fn, invocation) => call(fn, invocation, { seconds: limits().callSeconds }),
    async *iterate(fn, invocation) {
      const { options, end } = await begin(fn, invocation, { seconds: limits().callSeconds });
      try {
        yield* sandbox.iterate(fn.script, options);
      } catch (error) {
        fail(fn, invocation.name, error);
      } finally {
        end?.();
      }
    },
    async openStream(functions, facts) {
      const lazyMembers = toStreamLazyMembers(facts);
      const links = functions.map(async (fn) => ({
        script: fn.script,
        shared: toStreamContext(fn, facts, await toOwn(fn, facts)),
        lazyMembers,
        failed: (error: Error) => {
          note(fn, "stream", error);
          log.warn(
            { err: error, filter: fn.id },
            "a stream filter failed; it is left out of the rest of this run",
          );
        },
      }));
      return await sandbox.openStream(await Promise.all(links));
    },
  };
}

interface Scope {
  readonly signal: AbortSignal | undefined;
  /** Called when the call is over. */
  readonly end: (() => void) | undefined;
}

/** Host calls end with the call that made them: their answers would not be read. */
function toScope({ facts }: ReadyCode, outer: AbortSignal | undefined): Scope {
  const { fetch, complete } = facts.capabilities;
  if (fetch.length === 0 && !complete) {
    return { signal: outer, end: undefined };
  }
  const controller = new AbortController();
  const signal = outer ? AbortSignal.any([outer, controller.signal]) : controller.signal;
  return { signal, end: () => controller.abort() };
}
