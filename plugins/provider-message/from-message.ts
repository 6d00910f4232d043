import type { Completion, CompletionMessage } from "#kernel/completion/chunk.ts";
import { toFinishReason } from "./finish.ts";
import { type ReasoningDetail, type ThinkingBlock, toDetail } from "./reasoning.ts";
import { fromVendorUsage, type VendorUsage } from "./usage.ts";

/** A whole reply of the vendor's format. */
export interface VendorReply {
  readonly id?: string;
  readonly model?: string;
  readonly content: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly stop_reason?: string | null;
  readonly usage?: VendorUsage | null;
}

/** A whole reply as a completion of the common format. */
export function fromMessage(reply: VendorReply, toPublicId: (model: string) => string): Completion {
  return {
    id: reply.id ?? "msg",
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: toPublicId(reply.model ?? ""),
    choices: [
      { index: 0, message: toMessage(reply.content), finish_reason: toFinishReason(reply.stop_reason) },
    ],
    ...(reply.usage && { usage: fromVendorUsage(reply.usage) }),
  };
}

function toMessage(content: VendorReply["content"]): CompletionMessage {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const details: ReasoningDetail[] = [];
  const calls: NonNullable<CompletionMessage["tool_calls"]> = [];
  content.forEach((block, at) => {
    if (block.type === "text") {
      texts.push(String(block["text"] ?? ""));
    } else if (block.type === "thinking" || block.type === "redacted_thinking") {
      thoughts.push(String(block["thinking"] ?? ""));
      details.push(toDetail(block as unknown as ThinkingBlock, at));
    } else if (block.type === "tool_use") {
      const called = { name: String(block["name"]), arguments: JSON.stringify(block["input"] ?? {}) };
      calls.push({ id: String(block["id"]), type: "function", function: called });
    }
  });
  const reasoning = thoughts.filter((thought) => thought !== "").join("\n\n");
  return {
    role: "assistant",
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(""),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
