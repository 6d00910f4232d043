import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import {
  type Host,
  type Json,
  type ModuleShape,
  type Sandbox,
  SandboxError,
  type Script,
  type StreamLink,
} from "#kernel/sandbox.ts";
import { type ActiveFunction, toActiveFunction } from "../calls/active.ts";
import { toContext, toParts, toStreamContext, toStreamLazyMembers } from "../calls/call-context.ts";
import type { HostCall } from "../host/host-call.ts";
import { createHostFactory, type HostParts } from "../host/create-host.ts";
import { createPassingStorage } from "../host/storage.ts";
import { type RecordedCall, recordCalls } from "../host/record-calls.ts";
import { type CodeFacts, toFacts } from "../calls/facts.ts";
import { toScriptId } from "../calls/load.ts";
import type { DryRunForm, DryRunResult } from "../schema.ts";
import type { UserEvent } from "../host/user-events.ts";

export interface DryRunParts {
  readonly sandbox: Sandbox;
  readonly log: Logger;
  /** A host whose storage is forgotten and whose events end up in `events`. */
  host(call: HostCall, events: EventLog): Host;
  seconds(): number;
}

/** Items of a generator, or events, that are kept, and characters of their JSON. */
const maxItems = 10_000;
const maxCharacters = 4 * 2 ** 20;

/** Events that a trial would have sent. */
export interface EventLog {
  /** Throws `too_large` when it is too much. */
  add(event: UserEvent): void;
}

function createEventLog(): EventLog & { readonly events: readonly UserEvent[] } {
  const events: UserEvent[] = [];
  let characters = 0;
  return {
    events,
    add(event) {
      characters += JSON.stringify(event).length;
      if (events.length >= maxItems || characters > maxCharacters) {
        throw new AppError("too_large", "A dry run keeps no more events.");
      }
      events.push(event);
    },
  };
}

/** One trial of code that is stored nowhere. */
interface Trial {
  readonly fn: ActiveFunction;
  readonly form: DryRunForm;
  readonly principal: Principal;
  readonly host: Host;
  readonly signal: AbortSignal;
}

/** The host of trials: its storage is forgotten, its events are noted, and nobody is asked. */
export function createTrialHost(parts: HostParts, quota: () => number): DryRunParts["host"] {
  return (call, events) =>
    createHostFactory({
      ...parts,
      storage: createPassingStorage(quota),
      replies: undefined,
      userEvents: () => [
        {
          emit: (_principal, event) => events.add(event),
          ask: () => Promise.reject(new AppError("unavailable", "Nobody can be asked in a dry run.")),
        },
      ],
    })(call);
}

/** Code to be tried, and how. */
export interface CodeTrial<F extends CodeFacts> {
  readonly principal: Principal;
  /** Names the code in this trial. */
  readonly id: string;
  readonly script: Script;
  readonly signal: AbortSignal;
  read(shape: ModuleShape): F;
  run(facts: F, host: Host): Promise<unknown>;
}

/** Outcome of a trial; `facts` where the code could be loaded. */
export interface CodeTrialResult<F> extends Omit<DryRunResult, "type"> {
  readonly facts: F | undefined;
}

/** Loads unsaved code and runs a part of it with a host that notes what it is asked; forgets it afterwards. */
export async function tryCode<F extends CodeFacts>(
  parts: Omit<DryRunParts, "seconds">,
  { principal, id, script, signal, read, run: runPart }: CodeTrial<F>,
): Promise<CodeTrialResult<F>> {
  const { sandbox, log } = parts;
  const kept = createEventLog();
  const calls: RecordedCall[] = [];
  const started = performance.now();
  let loaded = started;
  let outcome: Pick<CodeTrialResult<F>, "result" | "facts" | "error"> = {
    result: null,
    facts: undefined,
    error: null,
  };
  try {
    const facts = read(await sandbox.load(script));
    loaded = performance.now();
    outcome = { ...outcome, facts };
    const call = { id, capabilities: facts.capabilities, principal, signal };
    outcome = {
      ...outcome,
      result: (await runPart(facts, recordCalls(parts.host(call, kept), calls))) ?? null,
    };
  } catch (error) {
    outcome = { ...outcome, error: toError(error, log) };
  }
  const result = {
    ...outcome,
    log: [...sandbox.logs(script.id)],
    events: kept.events.map((event) => ({ ...event })),
    calls: calls.map((each) => ({ ...each })),
    time_ms: Math.max(0, performance.now() - Math.max(loaded, started)),
    load_ms: loaded - started,
  };
  sandbox.forget(script.id);
  return result;
}

/** Runs one hook of unsaved code as the caller and answers the result; nothing is saved or sent. */
export function createDryRun(parts: DryRunParts) {
  return async (principal: Principal, form: DryRunForm, signal: AbortSignal): Promise<DryRunResult> => {
    const id = `dry_run_${randomUUID().replaceAll("-", "")}`;
    // An isolate of its own: what goes wrong here must not hurt the author's functions in use.
    const script = { owner: `dry-run:${principal.userId}`, id: toScriptId(id), source: form.content };
    const { facts, ...result } = await tryCode(parts, {
      principal,
      id,
      script,
      signal,
      read: toFacts,
      run: async (found, host) => {
        const row = { id, name: id, is_global: false, created_at: 0 };
        const saved = found.valves?.check(form.valves ?? {}) ?? {};
        const fn = toActiveFunction(row, { script, facts: found, saved });
        return await run(parts, { fn, form, principal, host, signal });
      },
    });
    return { ...result, type: facts?.type ?? null };
  };
}

export type DryRun = ReturnType<typeof createDryRun>;

async function run(parts: DryRunParts, trial: Trial): Promise<unknown> {
  const { fn, form, principal, host, signal } = trial;
  const facts = {
    principal,
    metadata: () => form.metadata ?? {},
    ...(form.id === undefined ? {} : { id: form.id }),
  };
  const own = fn.facts.userValves?.complete(fn.facts.userValves.check(form.user_valves ?? {})) ?? {};
  if (form.hook === "stream") {
    const given = { shared: toStreamContext(fn, facts, own), lazyMembers: toStreamLazyMembers(facts) };
    return await stream(parts.sandbox, trial, given);
  }
  const { own: place, ...shared } = toParts(fn, facts, own);
  const given =
    form.hook === "pipes"
      ? { args: [toContext(fn, facts, own)] }
      : { args: [form.body ?? {}, place], ...shared };
  const options = {
    name: form.hook,
    ...given,
    host,
    signal,
    deadlineMs: parts.seconds() * 1000,
  };
  if (form.hook !== "pipe") {
    return await parts.sandbox.call(fn.script, options);
  }
  const items: (Json | undefined)[] = [];
  let characters = 0;
  for await (const item of parts.sandbox.iterate(fn.script, options)) {
    items.push(item);
    characters += JSON.stringify(item)?.length ?? 0;
    if (items.length >= maxItems || characters >= maxCharacters) {
      break;
    }
  }
  return items.length === 1 ? items[0] : items.map((item) => item ?? null);
}

/** A chunk or a list of chunks goes through the stream hook; what it dropped is missing. */
async function stream(
  sandbox: Sandbox,
  { fn, form }: Trial,
  given: Pick<StreamLink, "shared" | "lazyMembers">,
): Promise<unknown> {
  let failure: Error | undefined;
  const chain = await sandbox.openStream([
    { script: fn.script, ...given, failed: (error) => (failure = error) },
  ]);
  try {
    const batch = Array.isArray(form.body) ? form.body : [form.body ?? {}];
    const texts = await chain.push(batch.map((chunk) => JSON.stringify(chunk) ?? "null"));
    if (failure !== undefined) {
      throw failure;
    }
    return texts.map((text): unknown => JSON.parse(text));
  } finally {
    chain.close();
  }
}

/** Line and column of a failure of the code. Throws what the platform itself got wrong. */
export function toError(error: unknown, log: Logger): DryRunResult["error"] {
  if (error instanceof SandboxError) {
    const { kind, message, line = null, column = null } = error;
    return { kind, message, line, column };
  }
  if (error instanceof AppError) {
    return { kind: "value", message: error.message, line: null, column: null };
  }
  log.error({ err: error }, "a dry run failed");
  throw error;
}
