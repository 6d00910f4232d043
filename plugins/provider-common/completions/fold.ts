import type { Chunk, Completion, CompletionMessage, Delta, Usage } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";

type Choice = NonNullable<Completion["choices"]>[number];

/** Puts a stream together, for an upstream that streams although a whole answer was asked for. */
export async function toCompletion(batches: AsyncIterable<ChunkBatch>): Promise<Completion> {
  const choices = new Map<number, Choice>();
  let head: Chunk = {};
  let usage: Usage | undefined;
  for await (const batch of batches) {
    for (const chunk of batch) {
      head = head.id === undefined ? chunk : head;
      usage = chunk.usage ?? usage;
      for (const { index, delta, finish_reason: reason } of chunk.choices ?? []) {
        const choice = choices.get(index) ?? {
          index,
          message: { role: "assistant", content: null },
          finish_reason: null,
        };
        choices.set(index, choice);
        append(choice.message, delta);
        choice.finish_reason = reason ?? choice.finish_reason;
      }
    }
  }
  const { choices: _choices, usage: _usage, ...rest } = head;
  return {
    ...rest,
    object: "chat.completion",
    choices: [...choices.values()].toSorted((a, b) => a.index - b.index),
    ...(usage && { usage }),
  };
}

/** Takes a whole answer apart, for an upstream that does not stream although it was asked to. */
export async function* fromCompletion(completion: Completion): AsyncGenerator<ChunkBatch> {
  const { choices = [], usage, ...rest } = completion;
  const head = { ...rest, object: "chat.completion.chunk" };
  const content = choices.map(({ index, message }) => {
    const { tool_calls: calls, ...delta } = message;
    const tool_calls = calls?.map((call, position) => ({ ...call, index: position }));
    return { index, delta: { ...delta, ...(tool_calls && { tool_calls }) }, finish_reason: null };
  });
  const ends = choices.map(({ index, message, finish_reason: reason }) => ({
    index,
    delta: {},
    finish_reason: reason ?? (message.tool_calls ? "tool_calls" : "stop"),
  }));
  yield [
    { ...head, choices: content },
    { ...head, choices: ends },
    ...(usage ? [{ ...head, choices: [], usage }] : []),
  ];
}

function append(message: CompletionMessage, delta: Delta): void {
  for (const key of ["content", "reasoning_content", "reasoning", "refusal"]) {
    const piece = delta[key];
    if (typeof piece === "string") {
      message[key] = ((message[key] as string | null | undefined) ?? "") + piece;
    }
  }
  if (Array.isArray(delta["reasoning_details"])) {
    const details = (message["reasoning_details"] as unknown[] | undefined) ?? [];
    message["reasoning_details"] = [...details, ...(delta["reasoning_details"] as unknown[])];
  }
  for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
    const calls = (message.tool_calls ??= []);
    while (calls.length <= Math.min(index, mostCalls)) {
      calls.push({ id: "", type: "function", function: { name: "", arguments: "" } });
    }
    const call = calls[Math.max(0, Math.min(index, mostCalls))] as (typeof calls)[number];
    call.id ||= id ?? "";
    call.type = type ?? call.type;
    call.function.name ||= called?.name ?? "";
    call.function.arguments += called?.arguments ?? "";
  }
}

/** A wrong index must not make a list of millions. */
const mostCalls = 1023;
