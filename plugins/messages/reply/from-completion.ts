import { randomUUID } from "node:crypto";
import type { Completion, CompletionMessage } from "#kernel/completion/chunk.ts";
import { TagReader, type Tags } from "#kernel/completion/reasoning-tags.ts";
import type { CallLabels } from "../call-labels.ts";
import { toStop } from "./stop-reason.ts";
import { toMessageUsage } from "./usage.ts";

export interface ReplyFacts {
  /** The id that the caller named. */
  readonly model: string;
  /** The sequences that the request named. */
  readonly stops: readonly string[];
  /** The tags that open and close reasoning in this model's texts. */
  readonly tags: readonly Tags[];
  readonly labels: CallLabels;
  /** The prompt's tokens for a first event without a count; undefined leaves them out. Rule 5. */
  readonly assumedInput?: number | undefined;
}

/** A fresh id of a message. */
export function toMessageId(): string {
  return `msg_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** A whole reply in the vendor's format. Core API, vendor messages rules 3 and 5. */
export function fromCompletion(completion: Completion, facts: ReplyFacts): Record<string, unknown> {
  const { model, stops } = facts;
  const choice = completion.choices?.find(({ index }) => (index ?? 0) === 0);
  const message = choice?.message ?? { role: "assistant" };
  const content = toBlocks(message, facts);
  const stop = toStop({
    finishReason: choice?.finish_reason,
    hasToolCalls: content.some(({ type }) => type === "tool_use"),
    stoppedBy: choice?.["stop_reason"],
    stops,
    refusal: toText(message["refusal"]),
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

function toBlocks(message: CompletionMessage, { tags, labels }: ReplyFacts): Block[] {
  const reasoning = message.reasoning_content ?? message["reasoning"];
  const blocks: Block[] = [];
  if (typeof reasoning === "string" && reasoning !== "") {
    blocks.push(toThinking(reasoning, toSignature(message["reasoning_details"])));
  }
  addText(blocks, toText(message.content), tags);
  addText(blocks, toText(message["refusal"]), []);
  for (const call of message.tool_calls ?? []) {
    const { name = "", arguments: given } = call.function ?? {};
    if (name !== "") {
      // Some upstreams give the object itself.
      const input = toInput(typeof given === "object" ? JSON.stringify(given) : (given ?? ""));
      blocks.push({
        type: "tool_use",
        id: labels.toClientId(call.id ?? ""),
        name: labels.toClientName(name),
        input,
      });
    }
  }
  return blocks;
}

/** Reasoning in tags becomes blocks of its own (contract D.36); pieces of one kind are one block. */
function addText(blocks: Block[], text: string, tags: readonly Tags[]): void {
  const reader = new TagReader(tags);
  for (const piece of [...reader.push(text), ...reader.end()]) {
    const last = blocks.at(-1);
    if (piece.text === "") {
      continue;
    }
    if (piece.kind === "reasoning") {
      blocks.push(toThinking(piece.text, ""));
    } else if (last?.type === "text") {
      last["text"] = String(last["text"]) + piece.text;
    } else {
      blocks.push({ type: "text", text: piece.text });
    }
  }
}

function toThinking(thinking: string, signature: string): Block {
  return { type: "thinking", thinking, signature };
}

/** Text, or the texts of parts, as some upstreams send them. */
function toText(content: unknown): string {
  const parts = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : [{ text: content }];
  return parts
    .map((part) => part?.text)
    .filter((text) => typeof text === "string")
    .join("");
}
