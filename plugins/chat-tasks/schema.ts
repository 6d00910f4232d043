import { z } from "zod";
import { Message } from "#kernel/completion/request.ts";

const common = {
  model: z.string().min(1).max(1024),
  chat_id: z.string().nullish(),
  /** Filters that the person switched on for the conversation. */
  filter_ids: z.array(z.string()).max(1000).nullish(),
};

/** A conversation that something is wanted of. */
export const TaskRequest = z
  .object({ ...common, messages: z.array(Message).min(1), prompt: z.string().nullish() })
  .meta({ id: "TaskRequest" });

export const QueriesRequest = TaskRequest.extend({
  type: z.enum(["web_search", "retrieval"]).default("web_search"),
}).meta({ id: "TaskQueriesRequest" });

export const AutocompleteRequest = z
  .object({
    ...common,
    prompt: z.string().min(1),
    messages: z.array(Message).nullish(),
    type: z.string().max(100).nullish(),
  })
  .meta({ id: "TaskAutocompleteRequest" });

export const EmojiRequest = z
  .object({ ...common, prompt: z.string().min(1) })
  .meta({ id: "TaskEmojiRequest" });

export const MoaRequest = z
  .object({
    ...common,
    prompt: z.string().min(1),
    responses: z.array(z.string()).min(1).max(100),
    stream: z.boolean().nullish(),
  })
  .meta({ id: "TaskMoaRequest" });

/** A completion of the common format, or why there is none. */
export const TaskAnswer = z
  .union([
    z.looseObject({
      id: z.string(),
      object: z.literal("chat.completion"),
      created: z.int(),
      model: z.string(),
      choices: z.array(
        z.looseObject({
          index: z.int(),
          message: z.looseObject({ role: z.string(), content: z.string() }),
          finish_reason: z.string(),
        }),
      ),
    }),
    z.object({ detail: z.string() }),
  ])
  .meta({ id: "TaskAnswer" });
