import { itemText } from "../data/reply.ts";
import type { ChatMessage, OutputItem } from "../data/types.ts";

/** A piece of a reply as it is shown, in the order in which it happened. */
export type ReplyPart =
  | { readonly kind: "text"; readonly id: string; readonly text: string }
  | { readonly kind: "reasoning"; readonly id: string; readonly item: OutputItem; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly call: OutputItem;
      readonly result: OutputItem | undefined;
    }
  | { readonly kind: "other"; readonly id: string; readonly item: OutputItem };

/** Parts out of the stored output; messages without one have their text alone. */
export function toParts({
  id,
  output,
  content,
}: Pick<ChatMessage, "id" | "output" | "content">): readonly ReplyPart[] {
  const results = new Map<string, OutputItem>();
  for (const item of output ?? []) {
    if (item.type === "function_call_output") {
      results.set(String(item["call_id"]), item);
    }
  }
  const parts = (output ?? []).flatMap((item) => toPart(item, results));
  const hasText = (output ?? []).some(({ type }) => type === "message");
  return hasText || content === "" ? parts : [...parts, { kind: "text", id: `${id}-text`, text: content }];
}

function toPart(item: OutputItem, results: ReadonlyMap<string, OutputItem>): ReplyPart[] {
  switch (item.type) {
    case "message": {
      const text = itemText(item);
      return text === "" ? [] : [{ kind: "text", id: item.id, text }];
    }
    case "reasoning":
      return [{ kind: "reasoning", id: item.id, item, text: itemText(item) }];
    case "function_call":
      return [{ kind: "call", id: item.id, call: item, result: results.get(String(item["call_id"])) }];
    case "function_call_output":
      return [];
    default:
      return [{ kind: "other", id: item.id, item }];
  }
}

/** What a tool answered, as text. */
export function resultText(result: OutputItem): string {
  const output = result["output"];
  if (typeof output === "string") {
    return output;
  }
  return Array.isArray(output)
    ? output.map((part) => String((part as { text?: unknown }).text ?? "")).join("")
    : "";
}

/** JSON with line breaks; other text as it is. */
export function indented(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** `get_current_time` in words. */
export const inWords = (name: string): string => {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
