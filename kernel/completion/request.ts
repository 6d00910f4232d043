import { z } from "zod";

/** One part of a message's content on the common wire; unknown kinds are passed on. */
export const ContentPart = z.looseObject({ type: z.string() });

/** What a tool or a call says of a function; other kinds are the provider's to know. */
const Declared: z.ZodType<unknown> = z.looseObject({}).nullish();

const ToolCall: z.ZodType<unknown> = z.looseObject({ function: Declared.optional() });

/** One message on the common wire; unknown keys are passed on. */
export const Message = z.looseObject({
  role: z.string().min(1),
  content: z
    .union(
      [z.string(), z.array(ContentPart), z.null()],
      "must be a text or a list of parts that name their type",
    )
    .optional(),
  tool_calls: z.array(ToolCall).nullish(),
});

const Tool = z.looseObject({ type: z.string().optional(), function: Declared.optional() });

/** Files offered for retrieval. */
export const FileReference = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  status: z.string().nullish(),
});

/** Parameters of the model call. */
const sampling = {
  temperature: z.number().nullish(),
  max_tokens: z.int().min(1).nullish(),
  top_p: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())], "must be a text or a list of texts").nullish(),
  reasoning_effort: z.string().nullish(),
  response_format: z.record(z.string(), z.unknown()).nullish(),
  logit_bias: z
    .union([z.record(z.string(), z.unknown()), z.string()], "must be an object or a text")
    .nullish(),
  options: z.record(z.string(), z.unknown()).nullish(),
};

/** Clients also send sampling parameters in here; those beside it win. */
const Params = z.looseObject({
  ...sampling,
  function_calling: z
    .string()
    .nullish()
    .meta({
      // Core API, Versioning: legacy function calling is deprecated.
      anyOf: [
        { const: "legacy", deprecated: true, description: "Tools are chosen once by the task model" },
        {},
      ],
    }),
  /** Model id → control id → option id. */
  model_controls: z.record(z.string(), z.record(z.string(), z.string().nullable()).nullable()).nullish(),
});

const Switches = z.record(z.string(), z.boolean().nullable());
const Place = z.string().nullish();
const Bag = z.looseObject({});

/** Where the reply stands in its chat; a request that is written into one is checked further. */
const place = {
  chat_id: Place,
  id: Place,
  session_id: Place,
  parent_id: Place,
  user_message: Bag.nullish(),
  parent_message: Bag.nullish(),
  message_ids: z.array(Bag).nullish(),
  assistant_message_id: Place,
  regeneration_prompt: z.string().nullish(),
  folder_id: Place,
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
    ...place,
    ...sampling,
    params: Params.nullish(),
    tool_ids: z.array(z.string()).nullish(),
    /** Built-in tools that the model is not offered, by id. */
    excluded_tool_ids: z.array(z.string().max(200)).max(500).nullish(),
    tools: z.array(Tool).nullish(),
    terminal_id: z.string().nullish(),
    files: z.array(FileReference).nullish(),
    features: Switches.nullish(),
    background_tasks: Switches.nullish(),
    variables: z.record(z.string(), z.string()).nullish(),
    chat_variables: Bag.nullish(),
    filter_ids: z.array(z.string()).nullish(),
    skill_ids: z.array(z.string()).nullish(),
    model_item: z.record(z.string(), z.unknown()).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
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
  "excluded_tool_ids",
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
