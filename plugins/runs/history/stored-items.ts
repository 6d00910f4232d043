import {
  type CallItem,
  type CallOutputItem,
  type CodeItem,
  codeType,
  type MessageItem,
  type OutputItem,
  type ReasoningItem,
  type TextPart,
} from "../reply/items.ts";

type Bag = Readonly<Record<string, unknown>>;
type ResultPart = CallOutputItem["output"][number];

/**
 * The items of a stored `output`. Chats are written and imported by others as well, so what is no item is passed over,
 * and what can be read is. Upstreams refuse calls without a result and results without a call: a run that was stopped
 * leaves such calls behind, and whoever goes on does without them. Calls of the caller's own tools stay.
 */
export function readItems(output: unknown): OutputItem[] {
  const items = (Array.isArray(output) ? (output as unknown[]) : []).flatMap(toItem);
  const isPaired = pair(items);
  return items.filter((item) => !isHalf(item) || isPaired.has(item) || isOfCaller(item));
}

/** The calls that have a result behind them, and these results; models may give one id to several calls. */
function pair(items: readonly OutputItem[]): ReadonlySet<OutputItem> {
  const open = new Map<string, OutputItem[]>();
  const paired = new Set<OutputItem>();
  for (const item of items) {
    if (!isHalf(item)) {
      continue;
    }
    if (item.type === "function_call") {
      open.set(item.call_id, [...(open.get(item.call_id) ?? []), item]);
      continue;
    }
    const call = open.get(item.call_id)?.shift();
    if (call !== undefined) {
      paired.add(call).add(item);
    }
  }
  return paired;
}

function isOfCaller(item: OutputItem): boolean {
  return item.type === "function_call" && item["executed"] === false;
}

function isHalf(item: OutputItem): item is CallItem | CallOutputItem {
  return item.type === "function_call" || item.type === "function_call_output";
}

function toItem(value: unknown): OutputItem[] {
  const item = toBag(value);
  switch (item["type"]) {
    case "message":
      return [{ ...item, content: toTexts(item["content"]) } as unknown as MessageItem];
    case "reasoning":
      return [toReasoning(item)];
    case "function_call":
      return toCall(item);
    case "function_call_output":
      return typeof item["call_id"] === "string"
        ? [{ ...item, output: toParts(item["output"]) } as unknown as CallOutputItem]
        : [];
    case codeType:
      return typeof item["code"] === "string" ? [item as unknown as CodeItem] : [];
    default:
      return typeof item["type"] === "string" ? [item as unknown as OutputItem] : [];
  }
}

function toCall(item: Bag): OutputItem[] {
  const { call_id: id, name, arguments: args } = item;
  return typeof id === "string" && typeof name === "string"
    ? [
        {
          ...item,
          arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}),
        } as unknown as CallItem,
      ]
    : [];
}

function toReasoning(item: Bag): ReasoningItem {
  const { reasoning_details: details, ...rest } = item;
  const [first = { type: "output_text", text: "" }] = toTexts(item["content"]);
  const kept = Array.isArray(details) ? { reasoning_details: details } : {};
  return { ...rest, content: [first], ...kept } as unknown as ReasoningItem;
}

function toTexts(content: unknown): TextPart[] {
  if (typeof content === "string") {
    return [{ type: "output_text", text: content }];
  }
  return (Array.isArray(content) ? (content as unknown[]) : []).flatMap((value): TextPart[] => {
    const { text, refusal } = toBag(value);
    if (typeof text === "string") {
      return [{ type: "output_text", text }];
    }
    return typeof refusal === "string" ? [{ type: "refusal", refusal }] : [];
  });
}

function toParts(output: unknown): ResultPart[] {
  if (typeof output === "string") {
    return [{ type: "input_text", text: output }];
  }
  return (Array.isArray(output) ? (output as unknown[]) : []).flatMap((value): ResultPart[] => {
    const { text, image_url: url } = toBag(value);
    if (typeof text === "string") {
      return [{ type: "input_text", text }];
    }
    return typeof url === "string" ? [{ type: "input_image", image_url: url }] : [];
  });
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}
