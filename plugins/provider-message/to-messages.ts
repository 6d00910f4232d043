import type { Message } from "#kernel/completion/request.ts";
import { fromDetails } from "./reasoning.ts";
import { type Block, refuse, toBlocks, withCacheControl } from "./to-parts.ts";

export interface VendorMessage {
  role: "user" | "assistant";
  content: Block[];
}

export interface VendorConversation {
  system: Block[];
  messages: VendorMessage[];
}

interface ToolCall {
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

/**
 * The conversation in the vendor's format: instructions apart, results of tools in the user's name and ahead of what
 * else stands in their turn, neighbours of one role as one turn.
 */
export function toConversation(messages: readonly Message[]): VendorConversation {
  const system: Block[] = [];
  const turns: VendorMessage[] = [];
  messages.forEach((message, at) => {
    const place = `messages.${at}`;
    switch (message.role) {
      case "system":
      case "developer":
        system.push(...marked(message, toBlocks(message.content, `${place}.content`)));
        return;
      case "assistant":
        add(turns, "assistant", marked(message, fromAssistant(message, place)));
        return;
      case "tool":
        add(turns, "user", [toResult(message, place)]);
        return;
      default:
        add(turns, "user", marked(message, toBlocks(message.content, `${place}.content`)));
    }
  });
  return { system, messages: withoutTrailingBlank(turns) };
}

/** Whether the model's last turn calls tools without the signed thoughts that led to it: the vendor then refuses to think on. */
export function lacksThoughts(messages: readonly VendorMessage[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant")?.content ?? [];
  const isAnswered = messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true;
  return isAnswered && last.every(({ type }) => type !== "thinking" && type !== "redacted_thinking");
}

function add(turns: VendorMessage[], role: VendorMessage["role"], blocks: readonly Block[]): void {
  const last = turns.at(-1);
  if (blocks.length === 0) {
    return;
  }
  if (last?.role === role) {
    last.content.push(...blocks);
  } else {
    turns.push({ role, content: [...blocks] });
  }
}

function fromAssistant(message: Message, place: string): Block[] {
  const calls = (message.tool_calls ?? []) as ToolCall[];
  return [
    ...fromDetails(message["reasoning_details"]),
    ...toBlocks(message.content, `${place}.content`),
    ...calls.map(({ id, function: called }, at) => {
      if (!called) {
        throw refuse(`${place}.tool_calls.${at}.function`, "calls of anything but functions");
      }
      return { type: "tool_use", id: toCallId(id), name: called.name, input: toInput(called.arguments) };
    }),
  ];
}

function toResult(message: Message, place: string): Block {
  const content = toBlocks(message.content, `${place}.content`);
  return withCacheControl(
    {
      type: "tool_result",
      tool_use_id: toCallId(message["tool_call_id"]),
      ...(content.length > 0 && { content }),
    },
    message["cache_control"],
  );
}

/** The id in characters that the vendor takes: calls of other upstreams may have any. */
function toCallId(id: unknown): string {
  return String(id ?? "").replaceAll(/[^\w-]/g, "_");
}

/** A mark on the message itself counts for its end. */
function marked(message: Message, blocks: Block[]): Block[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), withCacheControl(last, message["cache_control"])] : blocks;
}

/** The vendor takes objects only; what a model wrote amiss is handed over as text. */
function toInput(given: unknown): unknown {
  if (typeof given !== "string" || given.trim() === "") {
    return typeof given === "object" && given !== null ? given : {};
  }
  try {
    const value: unknown = JSON.parse(given);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value
      : { arguments: value };
  } catch {
    return { arguments: given };
  }
}

/** A reply that was begun may not end in blanks. */
function withoutTrailingBlank(turns: VendorMessage[]): VendorMessage[] {
  const last = turns.at(-1);
  const block = last?.role === "assistant" ? last.content.at(-1) : undefined;
  if (block?.type === "text") {
    block["text"] = String(block["text"]).trimEnd();
  }
  return turns;
}
