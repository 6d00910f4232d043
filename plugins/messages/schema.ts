import { z } from "zod";
import { validate } from "#kernel/http/validate.ts";

// Unknown keys (cache_control, citations, …) are accepted everywhere and dropped unless they are passed on. Rule 4.

const Text = z.looseObject({ type: z.literal("text"), text: z.string() });

const ImageSource = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("base64"), media_type: z.string().min(1), data: z.string().min(1) }),
    z.looseObject({ type: z.literal("url"), url: z.string().min(1) }),
  ],
  { error: namesType("sources") },
);
const Image = z.looseObject({ type: z.literal("image"), source: ImageSource });

const DocumentSource = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("base64"), media_type: z.string().min(1), data: z.string().min(1) }),
    z.looseObject({ type: z.literal("text"), data: z.string() }),
    z.looseObject({ type: z.literal("content"), content: blocks([Text, Image]) }),
    z.looseObject({ type: z.literal("url"), url: z.string().min(1) }),
  ],
  { error: namesType("sources") },
);
const Document = z.looseObject({
  type: z.literal("document"),
  source: DocumentSource,
  title: z.string().nullish(),
  context: z.string().nullish(),
});
const SearchResult = z.looseObject({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(Text),
});

/** A deferred tool that has been looked up. */
const ToolReference = z.looseObject({ type: z.literal("tool_reference"), tool_name: z.string().min(1) });

const ToolResult = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().min(1),
  content: blocks([Text, Image, Document, SearchResult, ToolReference]),
  is_error: z.boolean().nullish(),
});
const ToolUse = z.looseObject({
  type: z.literal("tool_use"),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});
const Thinking = z.looseObject({ type: z.literal("thinking"), thinking: z.string() });
const RedactedThinking = z.looseObject({ type: z.literal("redacted_thinking") });

const Tool = z.looseObject({
  type: z.string().nullish(),
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
});

const NamedTool = z.looseObject({ type: z.literal("tool_reference"), name: z.string().min(1) });
const DefinedTool = z.looseObject({ type: z.literal("tool_definition"), definition: Tool });
const ToolAddition = z.looseObject({
  type: z.literal("tool_addition"),
  tool: z.discriminatedUnion("type", [NamedTool, DefinedTool], { error: namesType("tools") }),
});
const ToolRemoval = z.looseObject({
  type: z.literal("tool_removal"),
  tool: z.discriminatedUnion("type", [NamedTool], { error: namesType("tools") }),
});

const Message = z.discriminatedUnion("role", [
  z.looseObject({
    role: z.literal("user"),
    content: filled(blocks([Text, Image, Document, SearchResult, ToolResult])),
  }),
  z.looseObject({
    role: z.literal("assistant"),
    content: filled(blocks([Text, Thinking, RedactedThinking, ToolUse])),
  }),
  z
    .looseObject({
      role: z.literal("system"),
      content: blocks([Text, ToolAddition, ToolRemoval]),
      clear_at: z.string().nullish(),
      output_config: z.looseObject({}).nullish(),
    })
    .refine(({ content, output_config: output }) => content.length > 0 || output, {
      path: ["content"],
      error: "must not be empty",
    }),
]);

const isSingle = z.boolean().nullish();
const ToolChoice = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("auto"), disable_parallel_tool_use: isSingle }),
  z.looseObject({ type: z.literal("any"), disable_parallel_tool_use: isSingle }),
  z.looseObject({ type: z.literal("none") }),
  z.looseObject({ type: z.literal("tool"), name: z.string().min(1), disable_parallel_tool_use: isSingle }),
]);

const OutputFormat = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("json_schema"),
    schema: z.record(z.string(), z.unknown()),
    name: z.string().nullish(),
  }),
  z.looseObject({ type: z.literal("json_object") }),
]);

/** How hard a model can be asked to think; upstreams that know fewer steps map them. */
const Effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]);

/** A request that can be translated into the common format. Core API, vendor-style message API. */
export const TranslatedRequest = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(Message).min(1),
  system: blocks([Text]),
  stream: z.boolean().nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: ToolChoice.nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  reasoning_effort: Effort.nullish(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.int().nullish() }).nullish(),
  output_config: z.looseObject({ effort: Effort.nullish(), format: OutputFormat.nullish() }).nullish(),
});

/**
 * The request as every route takes it. Only keys that this platform acts on are checked: an upstream of the same format
 * checks the others itself.
 */
export const MessageRequest = z
  .looseObject({
    model: z.string().min(1).max(1024),
    messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).min(1),
    max_tokens: z.int().optional(),
    system: z.unknown().optional(),
    stream: z.boolean().nullish(),
    tools: z.array(z.looseObject({})).nullish(),
    tool_choice: z.looseObject({ type: z.string() }).nullish(),
    reasoning_effort: z.string().nullish(),
    output_config: z.looseObject({}).nullish(),
  })
  .meta({ id: "MessageRequest" });

export const TokenCount = z.object({ input_tokens: z.int() }).meta({ id: "MessageTokenCount" });

export type TranslatedRequest = z.output<typeof TranslatedRequest>;
export type MessageRequest = z.output<typeof MessageRequest>;
export type InputMessage = z.output<typeof Message>;
export type InputTool = z.output<typeof Tool>;
export type TextBlock = z.output<typeof Text>;
export type ImageBlock = z.output<typeof Image>;
export type DocumentBlock = z.output<typeof Document>;
export type SearchResultBlock = z.output<typeof SearchResult>;
export type ToolReferenceBlock = z.output<typeof ToolReference>;
export type ToolResultBlock = z.output<typeof ToolResult>;

/** Throws `unprocessable`, naming the field, for what cannot be translated. */
export function toTranslated(body: unknown): TranslatedRequest {
  return validate(TranslatedRequest, body, "body") as TranslatedRequest;
}

type Block = z.core.$ZodTypeDiscriminable;

/** Content is a text or blocks; a text is one block. */
function blocks<const T extends readonly [Block, ...Block[]]>(kinds: T) {
  const list = z.array(z.discriminatedUnion("type", kinds, { error: namesType("blocks") }));
  return z.preprocess(
    (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? [])),
    list,
  );
}

function filled<T extends z.ZodType<readonly unknown[]>>(list: T): T {
  return list.refine((entries) => entries.length > 0, "must not be empty") as T;
}

/** The error of an unknown kind: skipping it would have the model answer another question. Contract D.24. */
function namesType(what: string) {
  return (issue: { code?: string | undefined; input?: unknown }): string | undefined => {
    const type = (issue.input as { type?: unknown } | null | undefined)?.type;
    return issue.code === "invalid_union" && typeof type === "string"
      ? `${what} of the type "${type.slice(0, 50)}" are not supported here`
      : undefined;
  };
}
