import type { Chunk, Completion, CompletionMessage, Delta, Usage } from "./chunk.ts";

type ToolCall = NonNullable<CompletionMessage["tool_calls"]>[number];

/** Joins streamed deltas into the message they make up. */
export interface Accumulator {
  add(chunk: Chunk): void;
  /** The message as far as it has come. */
  message(): CompletionMessage;
  usage(): Usage | undefined;
  finishReason(): string | undefined;
}

/** Collects the first choice's text, reasoning and tool calls (by index), and the last usage that was told. */
export function createAccumulator(): Accumulator {
  let content = "";
  let reasoning = "";
  let refusal = "";
  let usage: Usage | undefined;
  let finish: string | undefined;
  const calls = new Map<number, ToolCall>();
  // Signed thoughts, which some upstreams want back as they were.
  const details: unknown[] = [];

  return {
    add(chunk) {
      usage = chunk.usage ?? usage;
      const choice = firstChoice(chunk.choices);
      if (choice === undefined) {
        return;
      }
      finish = choice.finish_reason ?? finish;
      const { delta } = choice;
      content += delta?.content ?? "";
      reasoning += delta?.reasoning_content ?? delta?.reasoning ?? "";
      refusal += delta?.refusal ?? "";
      if (Array.isArray(delta?.["reasoning_details"])) {
        details.push(...(delta["reasoning_details"] as unknown[]));
      }
      addCalls(calls, delta);
    },
    message() {
      const message: CompletionMessage = { role: "assistant", content };
      if (reasoning !== "") {
        message.reasoning_content = reasoning;
      }
      if (refusal !== "") {
        message["refusal"] = refusal;
      }
      if (details.length > 0) {
        message["reasoning_details"] = details;
      }
      if (calls.size > 0) {
        message.tool_calls = [...calls.entries()].toSorted(([a], [b]) => a - b).map(([, call]) => call);
      }
      return message;
    },
    usage: () => usage,
    finishReason: () => finish,
  };
}

/** The message of a completion that came as a whole. */
export function toMessage(completion: Completion): CompletionMessage {
  return firstChoice(completion.choices)?.message ?? { role: "assistant", content: "" };
}

/** The choice with index 0, wherever it stands: with `n` > 1 a chunk may hold others, too. */
export function firstChoice<C extends { readonly index?: number }>(
  choices: readonly C[] | undefined,
): C | undefined {
  return choices?.find(({ index }) => (index ?? 0) === 0);
}

function addCalls(calls: Map<number, ToolCall>, delta: Delta | undefined): void {
  for (const piece of delta?.tool_calls ?? []) {
    const index = piece.index ?? 0;
    const call = calls.get(index) ?? { id: "", type: "function", function: { name: "", arguments: "" } };
    // Name and id come once; some upstreams repeat them on every piece.
    call.id ||= piece.id ?? "";
    call.function.name ||= piece.function?.name ?? "";
    call.function.arguments += piece.function?.arguments ?? "";
    calls.set(index, call);
  }
}
