import { bool, int, text } from "#config/variable.ts";

export const completionVariables = {
  concurrentCompletions: int("LIMIT_CONCURRENT_COMPLETIONS", 100, {
    min: 0,
    text: "Completions that an account has under way at once, on each replica; 0 is unlimited",
  }),
  outletFilters: bool("ENABLE_API_OUTLET_FILTERS", true, {
    text: "Outlet filters also run for completions that are answered over HTTP",
  }),
  deltaChunkSize: int("CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE", 1, {
    min: 1,
    whenInvalid: 1,
    text: "Fewest tokens joined into one streamed chunk; the highest of this, the model's and the request's value counts",
  }),
  taskModel: text("TASK_MODEL", "", {
    key: "task.model.default",
    persisted: true,
    text: "Model that works beside chats with local models (tools, titles, tags); empty for the chat's own",
  }),
  taskModelExternal: text("TASK_MODEL_EXTERNAL", "", {
    key: "task.model.external",
    persisted: true,
    text: "Model that works beside chats with models of providers; empty for the chat's own",
  }),
  toolsPrompt: text("TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE", "", {
    key: "task.tools.prompt_template",
    persisted: true,
    text: "Prompt by which the task model chooses tools in legacy mode; {{TOOLS}} is their list; empty for the built-in one",
  }),
  template: text("RAG_TEMPLATE", "", {
    key: "rag.template",
    persisted: true,
    text: "What models are told with passages of files and pages: {{CONTEXT}} is the passages, {{QUERY}} the question; empty for the built-in text",
  }),
  inSystem: bool("RAG_SYSTEM_CONTEXT", false, {
    text: "Passages stand in the system prompt, which providers cache, instead of around the question",
  }),
  voiceEnabled: bool("ENABLE_VOICE_MODE_PROMPT", true, {
    key: "task.voice.prompt.enable",
    persisted: true,
    text: "Tells models in calls (features.voice of the request) that their answer is spoken",
  }),
  voicePrompt: text("VOICE_MODE_PROMPT_TEMPLATE", "", {
    key: "task.voice.prompt_template",
    persisted: true,
    text: "What models in calls are told; empty for the built-in text",
  }),
};

/** What the form of task settings holds of this plugin (appendix A3). */
export const taskNames: readonly string[] = [
  completionVariables.taskModel.name,
  completionVariables.taskModelExternal.name,
  completionVariables.toolsPrompt.name,
  completionVariables.voiceEnabled.name,
  completionVariables.voicePrompt.name,
];
