import type { Completion, CompletionMessage } from "#kernel/completion/chunk.ts";
import { toCallId, toMessageId } from "../ids.ts";
import { toStop } from "./stop-reason.ts";
import { toMessageUsage } from "./usage.ts";

export interface ReplyFacts {
  /** The id that the caller named. */
  readonly model: string;
  /** The sequences that the request named. */
  readonly stops: readonly string[];
}

/** A whole reply in the vendor's format. Core API, vendor messages rules 3 and 5. */
export function fromCompletion(
  completion: Completion,
  { model, stops }: ReplyFacts,
): Record<string, unknown> {
  const choice = completion.choices?.[0];
  const message = choice?.message ?? { role: "assistant" };
  const content = toBlocks(message);
  const stop = toStop({
    finishReason: choice?.finish_reason,
    hasToolCalls: content.some(({ type }) => type === "tool_use"),
    stoppedBy: choice?.["stop_reason"],
    stops,
  });
  return {
    id: toMessageId(),
    type: "message",
    role: "assistant",
    model,
    content,
    ...stop,
    usage: { input_tokens: 0, ...toMessageUsage(completion.usage) },
  };
}

/** A call's arguments as the object clients expect; what is not one is handed over as text, so that tools can refuse it. */
export function toInput(text: string): Record<string, unknown> {
  if (text.trim() === "") {
    return {};
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : { arguments: value };
  } catch {
    return { arguments: text };
  }
}

/** The signature of a thought, where the upstream sent one along. */
export function toSignature(details: unknown): string {
  const entries = Array.isArray(details) ? (details as ({ signature?: unknown } | null)[]) : [];
  const signature = entries.map((entry) => entry?.signature).find((value) => typeof value === "string");
  return typeof signature === "string" ? signature : "";
}

type Block = { type: string; [key: string]: unknown };

function toBlocks(message: CompletionMessage): Block[] {
  const reasoning = message.reasoning_content ?? message["reasoning"];
  const text = toText(message.content) + toText(message["refusal"]);
  const blocks: Block[] = [];
  if (typeof reasoning === "string" && reasoning !== "") {
    blocks.push({
      type: "thinking",
      thinking: reasoning,
      signature: toSignature(message["reasoning_details"]),
    });
  }
  if (text !== "") {
    blocks.push({ type: "text", text });
  }
  for (const call of message.tool_calls ?? []) {
    const { name = "", arguments: given } = call.function ?? {};
    // Some upstreams give the object itself.
    const input = toInput(typeof given === "object" ? JSON.stringify(given) : (given ?? ""));
    blocks.push({ type: "tool_use", id: call.id || toCallId(), name, input });
  }
  return blocks;
}

/** Text, or the texts of parts, as some upstreams send them. */
function toText(content: unknown): string {
  const parts = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : [{ text: content }];
  return parts
    .map((part) => part?.text)
    .filter((text) => typeof text === "string")
    .join("");
}
