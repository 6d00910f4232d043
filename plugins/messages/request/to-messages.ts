import type { Message } from "#kernel/completion/request.ts";
import type { CallLabels } from "../call-labels.ts";
import type { Documents } from "./documents.ts";
import type {
  DocumentBlock,
  ImageBlock,
  InputMessage,
  SearchResultBlock,
  TextBlock,
  ToolReferenceBlock,
  ToolResultBlock,
  TranslatedRequest,
} from "../schema.ts";

type Part = { type: string; [key: string]: unknown };
type Shown = TextBlock | ImageBlock | DocumentBlock | SearchResultBlock | ToolReferenceBlock;
type Instructions = Extract<InputMessage, { role: "system" }>;
type Assistant = Extract<InputMessage, { role: "assistant" }>;

export interface ToMessagesOptions {
  /** The documents that the request names by address. */
  readonly documents: Documents;
  readonly labels: CallLabels;
  /** The key under which the upstream takes earlier reasoning back; undefined where it takes none. */
  readonly reasoningKey: string | undefined;
}

/** The conversation on the common wire: system first, results of tools ahead of what else stands in their turn. */
export function toMessages(
  { system, messages }: Pick<TranslatedRequest, "system" | "messages">,
  options: ToMessagesOptions,
): Message[] {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const converted = messages.flatMap((message, index) => {
    switch (message.role) {
      case "assistant":
        return [fromAssistant(message, options)];
      case "system":
        return fromInstructions(message, index < lastUser);
      case "user":
        return fromUser(message.content, options);
    }
  });
  const instructions = system.filter(({ text }) => text !== "");
  return instructions.length === 0
    ? converted
    : [{ role: "system", content: joinTexts(instructions, "\n\n") }, ...converted];
}

/** Instructions midway; some hold for one turn only, and some only change the tools. */
function fromInstructions({ content, clear_at: end }: Instructions, isPast: boolean): Message[] {
  const texts = content.filter((block) => block.type === "text");
  return texts.length === 0 || (isPast && end === "next_user_message")
    ? []
    : [{ role: "system", content: joinTexts(texts, "\n\n") }];
}

function fromAssistant({ content }: Assistant, { labels, reasoningKey }: ToMessagesOptions): Message {
  const texts = content.filter((block) => block.type === "text");
  const calls = content.filter((block) => block.type === "tool_use");
  const thoughts = content.filter((block) => block.type === "thinking").map(({ thinking }) => thinking);
  // Thoughts never become visible text (contract D.20); redacted ones mean nothing to other upstreams.
  const reasoning = reasoningKey === undefined ? "" : thoughts.join("\n\n");
  return {
    role: "assistant",
    content: texts.length === 0 ? null : joinTexts(texts, "\n\n"),
    ...(reasoning !== "" && { [reasoningKey as string]: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, input }) => ({
        id: labels.toUpstreamId(id),
        type: "function",
        function: { name: labels.toUpstreamName(name), arguments: JSON.stringify(input) },
      })),
    }),
  };
}

/** Results come before anything else of the turn: upstreams want them right behind their calls. Contract D.24. */
function fromUser(
  content: readonly (Shown | ToolResultBlock)[],
  { documents, labels }: ToMessagesOptions,
): Message[] {
  const toAll = (blocks: readonly Shown[]) => blocks.flatMap((block) => toParts(block, documents));
  const results = content
    .filter((block) => block.type === "tool_result")
    .map((result) => ({
      ...result,
      tool_use_id: labels.toUpstreamId(result.tool_use_id),
      parts: toAll(result.content),
    }));
  // A tool message holds text only: its pictures and files follow in the user's name.
  const shown = results.flatMap((result) => result.parts.filter((part) => !isText(part)));
  const parts = [...shown, ...toAll(content.filter((block) => block.type !== "tool_result"))];
  return [...results.map(toToolMessage), ...(parts.length > 0 ? [toUserMessage(parts)] : [])];
}

function toUserMessage(parts: readonly Part[]): Message {
  const [only] = parts;
  const content = parts.length === 1 && only && isText(only) ? only.text : [...parts];
  return { role: "user", content };
}

function toToolMessage({
  tool_use_id,
  is_error,
  parts,
}: Pick<ToolResultBlock, "tool_use_id" | "is_error"> & { readonly parts: readonly Part[] }): Message {
  const text = joinTexts(parts.filter(isText), "\n");
  const saysError = /^\s*error\b/i.test(text);
  return {
    role: "tool",
    tool_call_id: tool_use_id,
    content: is_error && !saysError ? `Error: ${text}`.trimEnd() : text,
  };
}

function toParts(block: Shown, documents: Documents): Part[] {
  switch (block.type) {
    case "text":
      return [toText(block.text)];
    case "image":
      return [toImage(block)];
    case "document":
      return fromDocument(block, documents);
    case "tool_reference":
      return [toText(`The tool ${block.tool_name} can be called now.`)];
    case "search_result":
      return [toText([block.title, block.source, joinTexts(block.content, "\n")].join("\n"))];
  }
}

function toImage({ source }: ImageBlock): Part {
  const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: "image_url", image_url: { url } };
}

function fromDocument(block: DocumentBlock, documents: Documents): Part[] {
  const { source, title, context } = block;
  const head = [title, context].filter((line) => line).join("\n");
  switch (source.type) {
    case "text":
      return [toText(withHead(head, source.data))];
    case "content":
      return [
        ...(head === "" ? [] : [toText(head)]),
        ...source.content.flatMap((part) => toParts(part, documents)),
      ];
    case "base64":
      return toFile(block, `data:${source.media_type};base64,${source.data}`);
    case "url":
      return toFile(block, documents.get(source.url));
  }
}

function toFile({ title, context }: DocumentBlock, uri: string | undefined): Part[] {
  return [
    ...(context ? [toText(context)] : []),
    { type: "file", file: { filename: title || "document.pdf", file_data: uri } },
  ];
}

function withHead(head: string, text: string): string {
  return head === "" ? text : `${head}\n\n${text}`;
}

function toText(text: string): Part & { text: string } {
  return { type: "text", text };
}

function isText(part: Part): part is Part & { text: string } {
  return part.type === "text";
}

function joinTexts(blocks: readonly { readonly text: string }[], glue: string): string {
  return blocks.map(({ text }) => text).join(glue);
}
