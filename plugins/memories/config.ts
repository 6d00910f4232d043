import { bool, int, text, type Values } from "#config/variable.ts";

export const memoryVariables = {
  enabled: bool("ENABLE_MEMORIES", true, {
    key: "memories.enable",
    persisted: true,
    text: "Lets people with the permission features.memories keep what models should remember about them",
  }),
  inContext: bool("ENABLE_MEMORY_SYSTEM_CONTEXT", true, {
    key: "memories.system_context.enable",
    persisted: true,
    text: "Puts the memories of a person into the system prompt of chats that use them",
  }),
  contextLimit: int("MEMORY_CONTEXT_CHAR_LIMIT", 2_000, {
    key: "memories.context_char_limit",
    persisted: true,
    min: 0,
    max: 100_000,
    text: "Most characters of memories about a person's work in a system prompt",
  }),
  userLimit: int("MEMORY_USER_CHAR_LIMIT", 2_000, {
    key: "memories.user_char_limit",
    persisted: true,
    min: 0,
    max: 100_000,
    text: "Most characters of memories about a person in a system prompt",
  }),
  review: bool("ENABLE_MEMORY_BACKGROUND_REVIEW", false, {
    key: "memories.background_review.enable",
    persisted: true,
    text: "Has a model look through chats that use memories for what is worth remembering",
  }),
  reviewInterval: int("MEMORY_REVIEW_INTERVAL_TURNS", 10, {
    key: "memories.review_interval_turns",
    persisted: true,
    min: 1,
    max: 1000,
    text: "Messages of a person in one chat between two such reviews",
  }),
  reviewTemplate: text("MEMORY_REVIEW_PROMPT_TEMPLATE", "", {
    key: "memories.background_review.prompt_template",
    persisted: true,
    text: "Prompt that asks for what is worth remembering; empty for the built-in one",
  }),
};

export type MemorySettings = Values<typeof memoryVariables>;
