import { bool, int, text } from "#config/variable.ts";

const none = (value: number) => (value === 0 ? "must be -1, for no limit, or at least 1" : undefined);

export const subagentVariables = {
  enabled: bool("ENABLE_SUBAGENTS", false, {
    key: "subagents.enable",
    persisted: true,
    text: "Lets models give tasks to sub-agents",
  }),
  backgroundEnabled: bool("SUBAGENTS_BACKGROUND_ENABLED", false, {
    key: "subagents.background_enabled",
    persisted: true,
    text: "Lets sub-agents work in the background, while the chat that asked them goes on",
  }),
  maxConcurrent: int("SUBAGENTS_MAX_CONCURRENT", 20, {
    key: "subagents.max_concurrent",
    persisted: true,
    min: -1,
    check: none,
    text: "Sub-agents of one process that replies wait for at once, more wait their turn; -1 for no limit. A change counts after a restart",
  }),
  maxAsync: int("SUBAGENTS_MAX_ASYNC", 20, {
    key: "subagents.max_async",
    persisted: true,
    min: -1,
    text: "Sub-agents in the background at once, one more is refused; -1 for no limit",
  }),
  maxIterations: int("SUBAGENTS_MAX_ITERATIONS", 30, {
    key: "subagents.max_iterations",
    persisted: true,
    min: 1,
    text: "Most tool-calling turns of one sub-agent",
  }),
  maxOutput: int("SUBAGENTS_MAX_OUTPUT", 30_000, {
    key: "subagents.max_output",
    persisted: true,
    min: 1,
    text: "Most characters of a sub-agent's result that the model which asked gets; what is longer is cut and marked",
  }),
  systemPrompt: text("SUBAGENTS_SYSTEM_PROMPT", "", {
    key: "subagents.system_prompt",
    persisted: true,
    text: "Follows the system prompt of the chat in its sub-agents; empty for the built-in one",
  }),
};
