import { bool, int, text, type Values } from "#config/variable.ts";

const key = (name: string) => ({ key: `chat.context_compaction.${name}`, persisted: true }) as const;

/** Settings of compacting long chats (contract §3.7). */
export const compactionVariables = {
  enabled: bool("ENABLE_CONTEXT_COMPACTION", false, {
    ...key("enable"),
    text: "Summarises the older part of a chat when it outgrows what its model should read",
  }),
  model: text("CONTEXT_COMPACTION_MODEL", "", {
    ...key("model"),
    text: "Id of the model that writes summaries; empty for the task model",
  }),
  threshold: int("CONTEXT_COMPACTION_TOKEN_THRESHOLD", 80_000, {
    ...key("token_threshold"),
    min: 1,
    text: "Tokens of a chat's context above which it is compacted",
  }),
  cap: int("CONTEXT_COMPACTION_TOKEN_CAP", null, {
    ...key("token_cap"),
    min: 1,
    text: "Highest threshold that a model's parameter compact_token_threshold may set; empty for the threshold itself",
  }),
  retention: int("CONTEXT_COMPACTION_RETENTION_PERCENTAGE", 40, {
    ...key("retention_percentage"),
    min: 0,
    max: 100,
    text: "Percentage of the newest messages that stay as they are; below 10 counts as 10, above 50 as 50",
  }),
  template: text("CONTEXT_COMPACTION_PROMPT_TEMPLATE", "", {
    ...key("prompt_template"),
    text: "Prompt that asks for a summary, with {{MESSAGES}} and {{SUMMARY}}; empty for the built-in one",
  }),
};

export type CompactionSettings = Values<typeof compactionVariables>;

/** The tokens above which a chat with this model is compacted; a model may set its own, up to the cap. */
export function thresholdOf(
  { threshold, cap }: Pick<CompactionSettings, "threshold" | "cap">,
  params: Readonly<Record<string, unknown>> = {},
): number {
  const own = Number(params["compact_token_threshold"]);
  return Math.min(Number.isFinite(own) && own >= 1 ? Math.floor(own) : threshold, cap ?? threshold);
}
