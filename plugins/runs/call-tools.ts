import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Tool, ToolContext } from "#kernel/tools/tool.ts";
import { type CallItem, type CallOutputItem, makeItemId } from "./items.ts";

export interface CallOptions {
  readonly tools: readonly Tool[];
  readonly context: ToolContext;
  readonly log: Logger;
  /** Told in the order of the calls, each as soon as it and those before it are done. */
  done(result: CallOutputItem): void;
}

/** Text beyond this is cut: one result must not fill a model's context and the chat. */
const maxResult = 1_000_000;

/** Runs the calls of one round one after another; neighbours that may, side by side (contract §3.5). */
export async function runCalls(calls: readonly CallItem[], options: CallOptions): Promise<void> {
  for (let at = 0; at < calls.length;) {
    const together = toTogether(calls.slice(at), options.tools);
    const texts = await Promise.all(together.map((call) => runCall(call, options)));
    texts.forEach((text, index) => options.done(toResult(together[index] as CallItem, text)));
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

/** A failure is the call's result: the model reads it and goes on. */
async function runCall(call: CallItem, { tools, context, log }: CallOptions): Promise<string> {
  context.signal.throwIfAborted();
  const tool = findTool(tools, call);
  if (tool === undefined) {
    return `Error: Tool "${call.name}" not found.`;
  }
  const parameters = parseArguments(call.arguments);
  if (parameters === undefined) {
    return `Error: The arguments of "${call.name}" are not a JSON object.`;
  }
  try {
    const result = await tool.run(onlyKnown(parameters, tool), context);
    const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
    return text.length > maxResult ? `${text.slice(0, maxResult)}\n[output truncated]` : text;
  } catch (error) {
    context.signal.throwIfAborted();
    log.warn({ err: error, tool: tool.id }, "a tool failed");
    // What an unexpected failure says may name things of this server.
    return `Error: ${error instanceof AppError ? error.message : "The tool failed."}`;
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

function toResult(call: CallItem, text: string): CallOutputItem {
  return {
    type: "function_call_output",
    id: makeItemId("fco"),
    status: "completed",
    call_id: call.call_id,
    output: [{ type: "input_text", text }],
  };
}
