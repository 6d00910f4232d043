import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest, Message } from "#kernel/completion/request.ts";
import type { Slot } from "#kernel/service.ts";
import type { ToolRun } from "#kernel/tools/tool.ts";
import type { OpenRun } from "#plugins/completions/service.ts";
import { type CallChange, type CallOptions, runCalls } from "./call-tools.ts";
import type { CallItem, CallOutputItem, CodeItem } from "../reply/items.ts";
import type { CodeInterpreter, OfferedInterpreter } from "../service.ts";

/** An interpreter with the feature that it serves. */
export interface ReplyInterpreter extends OfferedInterpreter {
  readonly feature: string;
}

export interface InterpreterPlace extends Omit<ToolRun, "request" | "model"> {
  readonly principal: Principal;
}

/** As many blocks of code one reply may run, whatever its tools may. */
export const maxCodeRuns = 30;

/**
 * The interpreter of a reply whose model calls no tools and whose request switches the feature on; models that call
 * tools have one for it (contract §3.2, step 7).
 */
export async function findInterpreter(
  slot: Slot<CodeInterpreter>,
  { request, model }: Pick<OpenRun, "request" | "model">,
  place: InterpreterPlace,
): Promise<ReplyInterpreter | undefined> {
  const calling = request.params?.["function_calling"] ?? model.params["function_calling"];
  if (calling !== "legacy") {
    return undefined;
  }
  for (const entry of slot.list()) {
    const { feature } = entry;
    const offered =
      request.features?.[feature] === true ? await entry.offer({ ...place, request, model }) : undefined;
    if (offered) {
      return { ...offered, feature };
    }
  }
  return undefined;
}

/** The messages with the interpreter's prompt behind what the model was told before. */
export function withPrompt(messages: CompletionRequest["messages"], prompt: string): readonly Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") {
    return [{ role: "system", content: prompt }, ...messages];
  }
  const content = Array.isArray(first.content)
    ? [...first.content, { type: "text", text: prompt }]
    : [first.content ?? "", prompt].filter((text) => text !== "").join("\n\n");
  return [{ ...first, content }, ...rest];
}

export interface CodeRunOptions extends Pick<CallOptions, "context" | "log" | "deliver"> {
  readonly interpreter: OfferedInterpreter;
  changed(item: CodeItem): void;
}

/** Runs the code of a round, as a call of the interpreter's tool: approvals and limits of tools hold for it. */
export async function runCode(
  item: CodeItem,
  { interpreter, changed, context, log, deliver }: CodeRunOptions,
): Promise<void> {
  if (!interpreter.languages.includes(item.lang)) {
    const allowed = interpreter.languages.join(", ");
    item.output = { stdout: "", stderr: `This code cannot be run here: write ${allowed}.`, result: "" };
    item.is_error = true;
    changed(item);
    return;
  }
  const { tool } = interpreter;
  const call: CallItem = {
    type: "function_call",
    id: item.id,
    status: "completed",
    call_id: item.id,
    name: tool.spec.name,
    arguments: JSON.stringify({ code: item.code }),
  };
  await runCalls([call], {
    tools: [tool],
    context,
    log,
    deliver,
    changed(_call, change) {
      applyChange(item, change);
      changed(item);
    },
    done(result) {
      applyResult(item, result);
      changed(item);
    },
  });
}

function applyChange(item: CodeItem, { started, approval, progress }: CallChange): void {
  Object.assign(item, started, approval && { approval }, progress && { progress });
  if (approval !== undefined) {
    item.status = approval.status === "pending" ? "pending" : "completed";
  }
}

function applyResult(
  item: CodeItem,
  { output, duration_ms: ms = 0, is_error: isError, files, embeds }: CallOutputItem,
) {
  const text = output.flatMap((part) => (part.type === "input_text" ? [part.text] : [])).join("\n");
  const value = isError ? { stderr: text } : toValue(text);
  item.output = {
    stdout: toText(value["stdout"]),
    stderr: toText(value["stderr"]),
    result: toText(value["result"]),
  };
  item.duration = ms / 1000;
  const hasFailed = isError === true || (value["status"] !== undefined && value["status"] !== "success");
  Object.assign(item, hasFailed && { is_error: true }, files && { files }, embeds && { embeds });
}

/** The result's object, with notes on what could not be shown behind its errors; another text is a result as it is. */
function toValue(text: string): Readonly<Record<string, unknown>> {
  const [line = "", ...notes] = text.split("\n");
  try {
    const value = JSON.parse(line) as Readonly<Record<string, unknown>> | null;
    if (typeof value === "object" && value !== null) {
      return { ...value, stderr: [toText(value["stderr"]), ...notes].filter((one) => one !== "").join("\n") };
    }
  } catch {
    // A text that is no JSON is a result as well.
  }
  return { result: text };
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
