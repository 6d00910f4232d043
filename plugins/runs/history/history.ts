import { withContentOf } from "#kernel/completion/content-text.ts";
import { textOf } from "#kernel/completion/reply-text.ts";
import type { Message } from "#kernel/completion/request.ts";
import type { ChatMessage } from "#plugins/chats/service.ts";
import { type CallOutputItem, isCode, type OutputItem } from "../reply/items.ts";
import { toCodeMessages } from "./code-messages.ts";
import { readItems } from "./stored-items.ts";

export interface HistoryRules {
  /** False for a model that takes no pictures: those that tools made are left out. */
  readonly sees?: boolean;
}

/** A stored branch as the common wire has it: calls and their results expanded, empty replies left out. */
export function toMessages(branch: readonly ChatMessage[], rules: HistoryRules = {}): Message[] {
  return branch.flatMap((message) => expand(message, rules).map((sent) => withContentOf(sent, message)));
}

function expand({ role, content, output, files }: ChatMessage, rules: HistoryRules): Message[] {
  if (role === "assistant") {
    const items = readItems(output);
    return items.length > 0 ? fromOutput(items, rules) : toReply(content);
  }
  return role === "user" || role === "system"
    ? [{ role, content: withPictures(toContent(content), files) }]
    : [];
}

/** The items of a reply as the messages that a model gets of them (contract §3.5). */
export function fromOutput(items: readonly OutputItem[], { sees = true }: HistoryRules = {}): Message[] {
  const messages: Message[] = [];
  const answered = new Set(items.filter(isResult).map(({ call_id: id }) => id));
  let left: string[] = [];
  let reply: Reply | undefined;
  let pictures: Part[] = [];
  const endReply = () => {
    if (reply && (reply.content !== "" || reply.tool_calls)) {
      messages.push(reply);
    }
    reply = undefined;
    // No upstream takes a call without a result.
    messages.push(...left.map((id) => ({ role: "tool", tool_call_id: id, content: notRun })));
    left = [];
  };
  const endResults = () => {
    // Tool messages carry text alone; what a tool shows follows them.
    if (pictures.length > 0) {
      messages.push({ role: "user", content: pictures });
      pictures = [];
    }
  };
  for (const item of items) {
    if (isResult(item)) {
      endReply();
      messages.push(toResult(item));
      pictures.push(...(sees ? picturesOf(item) : []));
      continue;
    }
    endResults();
    if (isKind(item, "function_call")) {
      reply ??= { role: "assistant", content: "" };
      const { call_id: id, name, arguments: args } = item;
      (reply.tool_calls ??= []).push({ id, type: "function", function: { name, arguments: args || "{}" } });
      if (item.executed === false && !answered.has(id)) {
        left.push(id);
      }
      continue;
    }
    if (reply?.tool_calls) {
      endReply();
    }
    if (isCode(item)) {
      const { said, answer } = toCodeMessages(item, sees);
      reply ??= { role: "assistant", content: "" };
      reply.content += `${/^$|\n$/.test(reply.content) ? "" : "\n"}${said}`;
      endReply();
      messages.push(answer);
    } else if (isKind(item, "message")) {
      reply ??= { role: "assistant", content: "" };
      reply.content += `${reply.content === "" ? "" : "\n"}${textOf(item)}`;
    } else if (isKind(item, "reasoning") && item.reasoning_details) {
      // Thoughts are not said again; what the provider signed goes back to it.
      reply ??= { role: "assistant", content: "" };
      reply.reasoning_details = [...(reply.reasoning_details ?? []), ...item.reasoning_details];
    }
  }
  endReply();
  endResults();
  return messages;
}

/** What the model reads of a call of the caller's own tool that has no result. */
const notRun = "This call was not run.";

/** Whether a model takes pictures: every one does that does not say otherwise (appendix A9). */
export function seesPictures({ capabilities }: Readonly<Record<string, unknown>>): boolean {
  return (capabilities as { vision?: unknown } | null | undefined)?.vision !== false;
}

type Part = { type: string; [key: string]: unknown };

interface Reply extends Record<string, unknown> {
  role: "assistant";
  content: string;
  tool_calls?: unknown[];
  reasoning_details?: unknown[];
}

function isKind<K extends "message" | "reasoning" | "function_call">(
  item: OutputItem,
  kind: K,
): item is Extract<OutputItem, { type: K }> {
  return item.type === kind;
}

function isResult(item: OutputItem): item is CallOutputItem {
  return item.type === "function_call_output";
}

function toResult({ call_id, output }: CallOutputItem): Message {
  const texts = output.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  return { role: "tool", tool_call_id: call_id, content: texts.join("\n") };
}

function picturesOf({ output }: CallOutputItem): Part[] {
  return output.flatMap((part) =>
    part.type === "input_image" ? [{ type: "image_url", image_url: { url: part.image_url } }] : [],
  );
}

function toReply(content: unknown): Message[] {
  const text = toContent(content);
  return text === "" || text.length === 0 ? [] : [{ role: "assistant", content: text }];
}

function toContent(content: unknown): string | Part[] {
  if (typeof content === "string") {
    return content;
  }
  return Array.isArray(content)
    ? content.filter(
        (part): part is Part => typeof (part as Part | null)?.type === "string" && !isEmpty(part),
      )
    : "";
}

/** A block of text that says nothing; some models refuse it. */
function isEmpty(part: unknown): boolean {
  const { type, text } = part as Part;
  return type === "text" && (text === "" || text === null || text === undefined);
}

/** Pictures that stand beside a message become parts of it. */
function withPictures(content: string | Part[], files: unknown): string | Part[] {
  const pictures = (Array.isArray(files) ? (files as unknown[]) : []).flatMap(toPicture);
  if (pictures.length === 0) {
    return content;
  }
  const words = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return [...words, ...pictures];
}

function toPicture(file: unknown): Part[] {
  const { type, url, content_type: contentType } = (file ?? {}) as Record<string, unknown>;
  const isPicture = type === "image" || (typeof contentType === "string" && contentType.startsWith("image/"));
  return isPicture && typeof url === "string" && url !== ""
    ? [{ type: "image_url", image_url: { url } }]
    : [];
}
