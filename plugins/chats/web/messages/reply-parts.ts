import { itemText } from "../data/reply.ts";
import type { ChatMessage, OutputItem } from "../data/types.ts";

/** A piece of a reply as it is shown, in the order in which it happened. */
export type ReplyPart =
  | { readonly kind: "text"; readonly id: string; readonly text: string }
  | { readonly kind: "reasoning"; readonly id: string; readonly item: OutputItem; readonly text: string }
  | { readonly kind: "calls"; readonly id: string; readonly calls: readonly CallPart[] }
  | { readonly kind: "other"; readonly id: string; readonly item: OutputItem };

/** A call of a tool and its result. */
export interface CallPart {
  readonly call: OutputItem;
  readonly result: OutputItem | undefined;
  /** Which round of calls of the reply it belongs to. */
  readonly round: number;
}

/** Parts out of the stored output; messages without one have their text alone. */
export function toParts({
  id,
  output,
  content,
}: Pick<ChatMessage, "id" | "output" | "content">): readonly ReplyPart[] {
  // Some servers of models number the calls of each round anew: results belong to calls in their order.
  const results = new Map<string, OutputItem[]>();
  for (const item of output ?? []) {
    if (item.type === "function_call_output") {
      const id = String(item["call_id"]);
      results.set(id, [...(results.get(id) ?? []), item]);
    }
  }
  const parts = grouped(
    withRounds(output ?? []).flatMap(({ item, round }) => toPart(item, { results, round })),
  );
  const hasText = (output ?? []).some(({ type }) => type === "message");
  return hasText || content === "" ? parts : [...parts, { kind: "text", id: `${id}-text`, text: content }];
}

/** A call behind a result begins a round. */
function withRounds(output: readonly OutputItem[]): { item: OutputItem; round: number }[] {
  let round = 0;
  return output.map((item, at) => {
    round += item.type === "function_call" && output[at - 1]?.type === "function_call_output" ? 1 : 0;
    return { item, round };
  });
}

/** So many calls in a row are one line, whatever their rounds. */
const many = 4;

/** Calls of one round become one part, and so do many calls with nothing said between them. */
function grouped(parts: readonly ReplyPart[]): ReplyPart[] {
  const runs: ReplyPart[][] = [];
  for (const part of parts) {
    const before = runs.at(-1);
    if (part.kind === "calls" && before?.[0]?.kind === "calls") {
      before.push(part);
    } else {
      runs.push([part]);
    }
  }
  return runs.flatMap((run) => {
    const calls = run.flatMap((part) => (part.kind === "calls" ? part.calls : []));
    if (calls.length < 2) {
      return run;
    }
    const groups = calls.length >= many ? [calls] : [...Map.groupBy(calls, ({ round }) => round).values()];
    return groups.map((group) => ({ kind: "calls" as const, id: group[0]?.call.id ?? "", calls: group }));
  });
}

function toPart(
  item: OutputItem,
  { results, round }: { results: ReadonlyMap<string, OutputItem[]>; round: number },
): ReplyPart[] {
  switch (item.type) {
    case "message": {
      const text = itemText(item);
      return text === "" ? [] : [{ kind: "text", id: item.id, text }];
    }
    case "reasoning":
      return [{ kind: "reasoning", id: item.id, item, text: itemText(item) }];
    case "function_call":
      return [
        {
          kind: "calls",
          id: item.id,
          calls: [{ call: item, result: results.get(String(item["call_id"]))?.shift(), round }],
        },
      ];
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
