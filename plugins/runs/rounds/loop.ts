import type { Chunk, Usage } from "#kernel/completion/chunk.ts";
import type { Message } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { OpenRun } from "#plugins/completions/service.ts";
import type { ToolContext } from "#kernel/tools/tool.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import { type CallChange, createRepeats, runCalls } from "./call-tools.ts";
import type { Delivered } from "./deliver.ts";
import { maxCodeRuns, type ReplyInterpreter, runCode, withPrompt } from "./interpreter.ts";
import { fromOutput, seesPictures } from "../history/history.ts";
import { ReplyRoom } from "./room.ts";
import type { CallItem, CodeItem, OutputItem } from "../reply/items.ts";
import type { Output } from "../reply/output.ts";
import type { UsageTotal } from "../reply/usage.ts";

export interface LoopOptions {
  readonly run: OpenRun;
  readonly output: Output;
  readonly usage: UsageTotal;
  readonly context: ToolContext;
  /** Runs code that the model writes into its text, where it calls no tools. */
  readonly interpreter?: ReplyInterpreter | undefined;
  readonly log: Logger;
  /** CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS; -1 is unlimited. */
  readonly maxIterations: number;
  /** CHAT_RESPONSE_STOP_REPEATED_TOOL_CALLS. */
  readonly stopsRepeats: boolean;
  /** Told of what chunks carry besides text and calls. */
  extra(chunk: Chunk): void;
  /** Shows what a tool's result carries besides text. */
  deliver(output: ToolOutput): Promise<Delivered>;
  /** The messages with pictures that are files here put in as data: tools may have made some. */
  withPictures(messages: readonly Message[]): Promise<readonly Message[]>;
  /** Told after each batch of chunks. */
  grown(): void;
  /** Told what the reply has cost so far, before its tools run and the model is asked again. */
  spent(usage: Usage): void;
}

/** Tells the model that it goes in circles. */
const repeatNote =
  "Note: this call was made before with the same result. Use the result, or try something else.";
/** As often as this a call may repeat itself silently. */
const silentRepeats = 2;

/**
 * The rounds of one reply: model call, tool calls, model call … until the model calls no tool. Calls of tools that
 * are not this server's end the run unexecuted. Returns what keeps the reply from being whole. Core API, chat
 * completion rules 1, 4 and 5.
 */
export async function runRounds(options: LoopOptions): Promise<string | undefined> {
  const { run, output, maxIterations, context, interpreter } = options;
  const base = interpreter ? withPrompt(run.request.messages, interpreter.prompt) : run.request.messages;
  const repeats = createRepeats();
  const room = new ReplyRoom(output.items);
  if (interpreter) {
    output.readCode();
  }
  const sees = seesPictures(run.model.meta);
  for (let iterations = 0; ; iterations += 1) {
    // A reply that goes on begins with what it already says.
    const said = await options.withPictures(fromOutput(output.items, { sees }));
    const calls = await runRound(options, [...base, ...said], room);
    context.signal.throwIfAborted();
    const written = output.takeCode();
    const code = calls.length === 0 ? written : undefined;
    const problem = toProblem(output.finishReason, calls);
    if (problem !== undefined || (calls.length === 0 && code === undefined)) {
      return problem;
    }
    if (code === undefined && run.tools.length === 0) {
      leaveToCaller(calls, output);
      return undefined;
    }
    const most = code && (maxIterations < 0 || maxIterations > maxCodeRuns) ? maxCodeRuns : maxIterations;
    if (most >= 0 && iterations >= most) {
      return `Tool-call limit reached (${most} iterations).`;
    }
    const spent = options.usage.total();
    if (spent !== undefined) {
      options.spent(spent);
    }
    if (code && interpreter) {
      await runCode(code, { ...options, interpreter, changed: (item) => showCode(options, item) });
      continue;
    }
    const isRepeating = await callTools(options, calls, repeats);
    if (isRepeating && options.stopsRepeats) {
      return "The model repeated the same tool call; the reply was ended.";
    }
  }
}

/** What the end of a round keeps from the reply, as people read it. Contract D.35. */
function toProblem(finishReason: string | undefined, calls: readonly CallItem[]): string | undefined {
  if (finishReason === "content_filter") {
    return "The provider's content filter ended this reply.";
  }
  return finishReason === "length" && calls.length > 0
    ? "The reply reached its token limit within a tool call, which was not run."
    : undefined;
}

function showCode({ output, grown }: LoopOptions, item: CodeItem): void {
  output.changed(item);
  grown();
}

/** The calls belong to the caller's own tools; the next turn tells the model that nothing ran them. */
function leaveToCaller(calls: readonly CallItem[], output: Output): void {
  for (const call of calls) {
    call.executed = false;
    output.changed(call);
  }
}

async function runRound(
  { run, output, usage, extra, grown }: LoopOptions,
  messages: readonly Message[],
  room: ReplyRoom,
): Promise<CallItem[]> {
  let told: Usage | undefined;
  let isEmpty = true;
  output.finishReason = undefined;
  try {
    for await (const batch of await run.call(messages)) {
      for (const chunk of batch) {
        isEmpty = false;
        told = chunk.usage ?? told;
        output.add(room.fit(chunk));
        extra(chunk);
        room.check();
      }
      grown();
      if (output.hasCode) {
        // What a model says behind code that has not run yet is made up.
        break;
      }
    }
  } finally {
    // Usage of a call that broke off counts as well.
    usage.add(told);
  }
  if (isEmpty) {
    throw new AppError("upstream", "The provider's stream held nothing that can be read.");
  }
  return output.endRound();
}

/** Resolves to true when a call has repeated itself too often. */
async function callTools(
  { run, output, context, log, grown, deliver }: LoopOptions,
  calls: readonly CallItem[],
  repeats: ReturnType<typeof createRepeats>,
): Promise<boolean> {
  let isRepeating = false;
  await runCalls(calls, {
    tools: run.tools,
    context,
    log,
    deliver,
    changed(call, change) {
      applyChange(call, change);
      output.changed(call);
    },
    done(result) {
      const call = calls.find(({ call_id: id }) => id === result.call_id) as CallItem;
      if (repeats.count(call, result) > silentRepeats) {
        isRepeating = true;
        result.output.push({ type: "input_text", text: repeatNote });
      }
      output.push(result as OutputItem);
      grown();
    },
  });
  return isRepeating;
}

function applyChange(call: CallItem, { started, approval, progress, question }: CallChange): void {
  Object.assign(call, started, approval && { approval }, progress && { progress });
  if (approval !== undefined) {
    call.status = approval.status === "pending" ? "pending" : "completed";
  }
  if (question !== undefined) {
    call.status = question === null ? "completed" : "pending";
    delete call.question;
    Object.assign(call, question && { question });
  }
}
