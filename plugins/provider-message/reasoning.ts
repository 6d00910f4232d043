/** One signed thought, as it travels on the common wire in `reasoning_details` of a message. */
export interface ReasoningDetail {
  readonly type: string;
  readonly format?: string | null;
  readonly text?: string;
  readonly signature?: string | null;
  readonly data?: string;
  readonly index?: number;
}

/** A thought in the vendor's format. */
export type ThinkingBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

/** Marks thoughts that this vendor signed: those of others would be refused. */
const format = "anthropic-claude-v1";

/** The thought with its signature: clients send it back with the message, and tool loops need it. */
export function toDetail(block: ThinkingBlock, index: number): ReasoningDetail {
  return block.type === "thinking"
    ? { type: "reasoning.text", format, text: block.thinking, signature: block.signature, index }
    : { type: "reasoning.encrypted", format, data: block.data, index };
}

/** The thoughts of a message that the vendor will know again. */
export function fromDetails(details: unknown): ThinkingBlock[] {
  const entries = Array.isArray(details) ? (details as (ReasoningDetail | null)[]) : [];
  return entries.flatMap((entry): ThinkingBlock[] => {
    if (entry?.format !== format) {
      return [];
    }
    const { type, text, signature, data } = entry;
    if (type === "reasoning.text" && typeof text === "string" && typeof signature === "string" && signature) {
      return [{ type: "thinking", thinking: text, signature }];
    }
    return type === "reasoning.encrypted" && typeof data === "string"
      ? [{ type: "redacted_thinking", data }]
      : [];
  });
}
