import { grouped, int, seconds, type Values } from "#config/variable.ts";

export const contextVariables = grouped("Files in questions", {
  maxTokens: int("RAG_CONTEXT_MAX_TOKENS", 32_000, {
    key: "rag.context_max_tokens",
    persisted: true,
    min: 500,
    text: "Most tokens of passages and documents in one question, where the context length of the model is not known",
  }),
  waitSeconds: seconds("RAG_PENDING_FILE_WAIT_SECONDS", 20, {
    min: 0,
    text: "Seconds that a question waits for a file that is still being read; it goes without the file then",
  }),
});

export type ContextSettings = Values<typeof contextVariables>;
