import { z } from "zod";

/** One part of a message's content on the common wire; unknown kinds are passed on. */
export const ContentPart = z.looseObject({ type: z.string() });

/** What a tool or a call says of a function; other kinds are the provider's to know. */
const Declared: z.ZodType<unknown> = z.looseObject({}).nullish();

const ToolCall: z.ZodType<unknown> = z.looseObject({ function: Declared.optional() });

/** One message on the common wire; unknown keys are passed on. */
export const Message = z.looseObject({
  role: z.string().min(1),
  content: z.union([z.string(), z.array(ContentPart), z.null()]).optional(),
  tool_calls: z.array(ToolCall).nullish(),
});

const Tool = z.looseObject({ type: z.string().optional(), function: Declared.optional() });

/** Files offered for retrieval. */
export const FileReference = z.looseObject({ type: z.string(), id: z.string().optional() });

/** Core API, Versioning: legacy function calling is deprecated. */
const documentedParams = {
  function_calling: {
    anyOf: [
      { const: "legacy", deprecated: true, description: "Tools are chosen once by the task model" },
      {},
    ],
  },
};

/**
 * The chat completion request of Core API, "Chat completion request". Keys the platform does not know are kept
 * and passed to the provider; the ones it does know are checked.
 */
export const CompletionRequest = z
  .looseObject({
    model: z.string().min(1).max(1024),
    messages: z.array(Message).min(1, "must not be empty"),
    stream: z.boolean().nullish(),
    chat_id: z.string().nullish(),
    id: z.string().nullish(),
    session_id: z.string().nullish(),
    params: z.record(z.string(), z.unknown()).nullish().meta({ properties: documentedParams }),
    tool_ids: z.array(z.string()).nullish(),
    tools: z.array(Tool).nullish(),
    terminal_id: z.string().nullish(),
    files: z.array(FileReference).nullish(),
    features: z.record(z.string(), z.unknown()).nullish(),
    background_tasks: z.record(z.string(), z.unknown()).nullish(),
    variables: z.record(z.string(), z.string()).nullish(),
    filter_ids: z.array(z.string()).nullish(),
    model_item: z.record(z.string(), z.unknown()).nullish(),
    temperature: z.number().nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    top_p: z.number().nullish(),
    seed: z.int().nullish(),
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
    reasoning_effort: z.string().nullish(),
    response_format: z.record(z.string(), z.unknown()).nullish(),
    logit_bias: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish(),
    options: z.record(z.string(), z.unknown()).nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: "ChatCompletionRequest" });

export type CompletionRequest = z.output<typeof CompletionRequest>;
export type Message = z.output<typeof Message>;

/** The embeddings request of the common format. */
export const EmbeddingsRequest = z
  .looseObject({
    model: z.string().min(1).max(1024),
    input: z.union([z.string(), z.array(z.string()), z.array(z.int()), z.array(z.array(z.int()))]),
    encoding_format: z.enum(["float", "base64"]).nullish(),
    dimensions: z.int().min(1).nullish(),
  })
  .meta({ id: "EmbeddingsRequest" });

export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>;

/** Keys of a completion request that are for the platform and never reach a provider. */
export const platformKeys: ReadonlySet<string> = new Set([
  "chat_id",
  "id",
  "session_id",
  "parent_id",
  "user_message",
  "parent_message",
  "message_ids",
  "assistant_message_id",
  "regeneration_prompt",
  "folder_id",
  "params",
  "tool_ids",
  "tool_servers",
  "terminal_id",
  "files",
  "features",
  "background_tasks",
  "variables",
  "chat_variables",
  "filter_ids",
  "skill_ids",
  "model_item",
]);
