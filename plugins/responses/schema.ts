import { z } from "zod";

const Part = z.looseObject({ type: z.string() });

/** One thing of the conversation so far: a message, a call of a function, what it gave back, or a thought. */
const Item = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.union([z.string(), z.array(Part), z.null()]).optional(),
});
export type Item = z.output<typeof Item>;
export type Part = z.output<typeof Part>;

const Tool = z.looseObject({ type: z.string(), name: z.string().optional() });
export type Tool = z.output<typeof Tool>;

/** A request that can become a chat completion; its unknown keys are accepted, too. */
export const TranslatedRequest = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(Item)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z
    .union([z.string(), z.looseObject({ type: z.string(), tools: z.array(z.looseObject({})).nullish() })])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  text: z
    .looseObject({
      format: z.looseObject({ type: z.string() }).nullish(),
      verbosity: z.string().nullish(),
    })
    .nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  background: z.boolean().nullish(),
});

/**
 * The request as every route takes it. Only keys that this platform acts on are checked: an upstream of the format checks
 * the others itself.
 */
export const ResponsesRequest = z
  .looseObject({
    model: z.string().min(1).max(1024),
    input: z.union([z.string(), z.array(z.looseObject({}))]).optional(),
    instructions: z.string().nullish(),
    stream: z.boolean().nullish(),
    previous_response_id: z.string().nullish(),
    tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  })
  .meta({ id: "ResponsesRequest" });

export type TranslatedRequest = z.output<typeof TranslatedRequest>;
export type ResponsesRequest = z.output<typeof ResponsesRequest>;
