import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { ApprovalState } from "#kernel/tools/approval-state.ts";
import { type ToolOutput, toolOutput, toResultText, toToolOutput } from "#kernel/tools/output.ts";
import type { CallProgress, ShownCall, Tool, ToolContext } from "#kernel/tools/tool.ts";
import { type CallItem, type CallOutputItem, makeItemId } from "../reply/items.ts";
import type { Delivered } from "./deliver.ts";

export interface CallOptions {
  readonly tools: readonly Tool[];
  readonly context: ToolContext;
  readonly log: Logger;
  /** Told what people see of a call while it runs. */
  changed(call: CallItem, change: CallChange): void;
  /** Shows what a result carries besides text. Never rejects. */
  deliver(output: ToolOutput): Promise<Delivered>;
  /** Told in the order of the calls, each as soon as it and those before it are done. */
  done(result: CallOutputItem): void;
}

/** What people see of a call, beside its arguments. */
export interface CallChange {
  /** The tool that runs it, and since when. */
  readonly started?: Pick<CallItem, "tool" | "started_at">;
  /** What becomes of the question whether it may be made. */
  readonly approval?: ApprovalState;
  readonly progress?: CallProgress;
  /** What it asks the person; null when it goes on. */
  readonly question?: Readonly<Record<string, unknown>> | null;
}

/** Runs the calls of one round one after another; neighbours that may, side by side (contract §3.5). */
export async function runCalls(calls: readonly CallItem[], options: CallOptions): Promise<void> {
  const hasNeighbours = calls.length > 1;
  const prepared = new Map(calls.map((call) => [call, prepare(call, { ...options, hasNeighbours })]));
  for (let at = 0; at < calls.length;) {
    const together = toTogether(calls.slice(at), options.tools);
    const results = together.map((call) => timeCall(prepared.get(call) as Prepared, options));
    // Those behind one that rejects, because the run ends, are awaited by nobody.
    results.forEach((result) => void result.catch(() => undefined));
    for (const [index, result] of results.entries()) {
      const { output } = await result;
      options.done(toResult(together[index] as CallItem, await result, await options.deliver(output)));
    }
    at += together.length;
  }
}

/** Counts calls that repeat with the same answer: models are told, so that they stop (contract D.22). */
export function createRepeats() {
  const counts = new Map<string, number>();
  return {
    /** How often this call has given this answer, this time included. */
    count({ name, arguments: args }: CallItem, result: CallOutputItem): number {
      const key = JSON.stringify([name, args, result.output]);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
  };
}

function toTogether(calls: readonly CallItem[], tools: readonly Tool[]): CallItem[] {
  const isParallel = (call: CallItem) => findTool(tools, call)?.isParallel === true;
  const first = calls[0] as CallItem;
  if (!isParallel(first)) {
    return [first];
  }
  const end = calls.findIndex((call) => !isParallel(call));
  return calls.slice(0, end < 0 ? undefined : end);
}

function findTool(tools: readonly Tool[], { name }: CallItem): Tool | undefined {
  return tools.find(({ spec }) => spec.name === name);
}

interface TimedResult {
  readonly output: ToolOutput;
  readonly isError: boolean;
  readonly durationMs: number;
}

interface Preparing extends CallOptions {
  /** The model makes other calls in this round. */
  readonly hasNeighbours: boolean;
}

/** A call that can be made. */
interface ReadyCall {
  readonly tool: Tool;
  readonly parameters: Bag;
  readonly context: ToolContext;
  /** Shows that it runs from now on. */
  start(): void;
  /** The decision of the person: asked at once, so that all calls of a round are decided together. */
  readonly consent: Promise<boolean>;
}

type Prepared = ReadyCall | CallFailure;

/** A failure is the call's result: the model reads it and goes on. */
async function timeCall(prepared: Prepared, options: CallOptions): Promise<TimedResult> {
  const from = performance.now();
  const result = await untilAborted(runCall(prepared, options), options.context.signal);
  const isError = result instanceof CallFailure;
  return {
    output: isError ? toolOutput({ value: `Error: ${result.text}` }) : result,
    isError,
    durationMs: Math.round(performance.now() - from),
  };
}

/** Rejects when the run ends, also where a tool does not listen to its signal (promise R28). */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** What a model reads of a call that failed. */
class CallFailure {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function prepare(call: CallItem, options: Preparing): Prepared {
  const { tools, changed } = options;
  const tool = findTool(tools, call);
  if (tool === undefined) {
    return new CallFailure(`Tool "${call.name}" not found.`);
  }
  if (tool.isAlone && options.hasNeighbours) {
    return new CallFailure(
      `"${call.name}" has to be called alone: call it again, with no other call beside it.`,
    );
  }
  const given = parseArguments(call.arguments);
  if (given === undefined) {
    return new CallFailure(`The arguments of "${call.name}" are not a JSON object.`);
  }
  const missing = missingParameters(given, tool);
  if (missing.length > 0) {
    return new CallFailure(`"${call.name}" needs ${missing.map((name) => `"${name}"`).join(", ")}.`);
  }
  const shown: ShownCall = {
    id: call.call_id,
    showApproval: (approval) => changed(call, { approval }),
    showProgress: (progress) => changed(call, { progress }),
    showWaiting: (question) => changed(call, { question: question ?? null }),
  };
  const parameters = onlyKnown(given, tool);
  const context = { ...options.context, call: shown };
  const start = () => changed(call, { started: { tool: toShownTool(tool), started_at: Date.now() } });
  if (tool.approval === "ask" || tool.approval === "ask-after-untrusted") {
    // The question names the tool.
    start();
  }
  const consent = tool.consent?.(parameters, context) ?? Promise.resolve(false);
  // Read when its turn comes; until then a refusal is nobody's failure.
  consent.catch(() => undefined);
  return { tool, parameters, context, start, consent };
}

function toShownTool({ id, title, server }: Tool): NonNullable<CallItem["tool"]> {
  return { id, ...(title && { title }), ...(server && { server }) };
}

async function runCall(
  prepared: Prepared,
  { log, context: { signal } }: CallOptions,
): Promise<ToolOutput | CallFailure> {
  signal.throwIfAborted();
  if (prepared instanceof CallFailure) {
    return prepared;
  }
  const { tool, parameters, context, start, consent } = prepared;
  start();
  try {
    const hasConsent = await consent;
    return toToolOutput(await tool.run(parameters, { ...context, hasConsent }));
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tool: tool.id }, "a tool failed");
    // The message of an unexpected failure may name things of this server.
    return new CallFailure(error instanceof AppError ? error.message : "The tool failed.");
  }
}

type Bag = Record<string, unknown>;

/** JSON; or, from models that write it so, an object with single quotes and capitalised constants. */
export function parseArguments(text: string): Bag | undefined {
  if (text.trim() === "") {
    return {};
  }
  return toBag(parse(text)) ?? toBag(parse(toJsonText(text)));
}

function toJsonText(text: string): string {
  return text.replaceAll(
    /"(?:[^"\\]|\\.)*"|'((?:[^'\\]|\\.)*)'|\b(True|False|None)\b|,(?=\s*[}\]])/gs,
    (token: string, quoted: string | undefined, word: string | undefined) => {
      if (quoted !== undefined) {
        return JSON.stringify(quoted.replaceAll("\\'", "'").replaceAll("\\n", "\n"));
      }
      if (word !== undefined) {
        return word === "None" ? "null" : word.toLowerCase();
      }
      return token === "," ? "" : token;
    },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toBag(value: unknown): Bag | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : undefined;
}

/** Parameters that the schema does not name are dropped. */
function onlyKnown(parameters: Bag, { spec }: Tool): Bag {
  const known = toBag(spec.parameters["properties"]);
  return known
    ? Object.fromEntries(Object.entries(parameters).filter(([name]) => Object.hasOwn(known, name)))
    : parameters;
}

/** Legacy mode refuses such calls, too. */
function missingParameters(parameters: Bag, { spec }: Tool): string[] {
  const required = spec.parameters["required"];
  return (Array.isArray(required) ? required.map(String) : []).filter(
    (name) => !Object.hasOwn(parameters, name),
  );
}

function toResult(
  call: CallItem,
  { output, isError, durationMs }: TimedResult,
  { pictures, files, embeds, notes }: Delivered,
): CallOutputItem {
  return {
    type: "function_call_output",
    id: makeItemId("fco"),
    status: "completed",
    call_id: call.call_id,
    duration_ms: durationMs,
    ...(isError && { is_error: true }),
    output: [
      { type: "input_text", text: [toResultText(output), ...notes].join("\n") },
      ...pictures.map((url) => ({ type: "input_image" as const, image_url: url })),
    ],
    ...(files.length > 0 && { files: [...files] }),
    ...(embeds.length > 0 && { embeds: [...embeds] }),
  };
}
