import { randomBytes } from "node:crypto";
import type { ApprovalState } from "#kernel/tools/approval-state.ts";
import type { CallProgress } from "#kernel/tools/tool.ts";

/** What a reply is made of, in order (contract §3.5). */
export type OutputItem = MessageItem | ReasoningItem | CallItem | CallOutputItem | CodeItem | OtherItem;

export type TextPart = { type: "output_text"; text: string } | { type: "refusal"; refusal: string };

export interface MessageItem {
  type: "message";
  id: string;
  status: "in_progress" | "completed";
  role: "assistant";
  content: TextPart[];
}

export interface ReasoningItem {
  type: "reasoning";
  id: string;
  status: "in_progress" | "completed";
  start_tag: string;
  end_tag: string;
  attributes: { type: "reasoning_content" };
  content: [{ type: "output_text"; text: string }];
  summary: null;
  /** What the provider wants back in later rounds, such as signatures. */
  reasoning_details?: unknown[];
  /** Epoch seconds. */
  started_at: number;
  ended_at?: number;
  /** Seconds. */
  duration?: number;
}

export interface CallItem {
  type: "function_call";
  id: string;
  /** `pending` while it waits for a person's approval (contract D.22); `incomplete` when the reply was cut off in it (D.35). */
  status: "in_progress" | "pending" | "completed" | "incomplete";
  /** False for a call of the caller's own tool: the run ended with it. */
  executed?: false;
  call_id: string;
  name: string;
  /** JSON text. */
  arguments: string;
  /** What became of the question whether it may be made, where it needed asking. */
  approval?: ApprovalState;
  /** Which tool runs it, for people. */
  tool?: { readonly id: string; readonly title?: string; readonly server?: string };
  /** Epoch milliseconds. */
  started_at?: number;
  progress?: CallProgress;
  /** What the call asks the person; there while it waits for the answer. */
  question?: Readonly<Record<string, unknown>>;
}

export interface CallOutputItem {
  type: "function_call_output";
  id: string;
  status: "completed";
  call_id: string;
  /** Milliseconds that the tool took, approvals and answers of people included. */
  duration_ms?: number;
  /** True for a result that tells of a failure. */
  is_error?: boolean;
  output: ({ type: "input_text"; text: string } | { type: "input_image"; image_url: string })[];
  files?: unknown[];
  embeds?: unknown[];
}

/** Code that a model wrote into its text, which ran at the end of the round (contract §3.5). */
export interface CodeItem extends Pick<CallItem, "approval" | "tool" | "started_at" | "progress"> {
  type: typeof codeType;
  id: string;
  /** `incomplete` when the reply was cut off in it. */
  status: "in_progress" | "pending" | "completed" | "incomplete";
  lang: string;
  code: string;
  attributes: { type: "code"; lang: string };
  /** There as soon as the code has run. */
  output?: { stdout: string; stderr: string; result: string };
  /** Seconds, approvals included. */
  duration?: number;
  is_error?: boolean;
  files?: unknown[];
  embeds?: unknown[];
}

export const codeType = "service:code_interpreter";

export function isCode(item: OutputItem): item is CodeItem {
  return item.type === codeType;
}

/** Items of other writers, kept as they are. */
export interface OtherItem {
  type: `${string}:${string}`;
  id: string;
  [key: string]: unknown;
}

/** An id that is unique within its chat: short, because every delta names one. */
export function makeItemId(prefix: "msg" | "r" | "fc" | "fco" | "ci"): string {
  return `${prefix}_${randomBytes(9).toString("base64url")}`;
}

/** An item as clients get it: pictures that tools gave to the model stay here. */
export function toShown(item: OutputItem): OutputItem {
  return item.type === "function_call_output"
    ? { ...item, output: item.output.filter((part) => part?.type !== "input_image") }
    : item;
}

/** A stored output, which others may have written as well, as clients get it. */
export function toShownOutput(output: unknown): unknown {
  const isResult = (item: unknown): item is CallOutputItem =>
    Array.isArray((item as Partial<CallOutputItem> | null)?.output);
  return Array.isArray(output) ? output.map((item) => (isResult(item) ? toShown(item) : item)) : output;
}

/** An output whose texts were changed, as it is stored then: the last one says everything, the others go. */
export function withText(output: readonly unknown[], content: unknown): unknown[] {
  const isText = (item: unknown) => (item as { type?: unknown } | null)?.type === "message";
  const parts = (Array.isArray(content) ? content : []) as { text?: unknown }[];
  const text = typeof content === "string" ? content : parts.flatMap(({ text: one }) => one ?? []).join("\n");
  const last = output.findLastIndex(isText);
  return output
    .map((item, at) =>
      at === last ? { ...(item as MessageItem), content: [{ type: "output_text", text }] } : item,
    )
    .filter((item, at) => at === last || !isText(item));
}
