import { bool, int, seconds, text, type Values } from "#config/variable.ts";

const template = (name: string, key: string, what: string) =>
  text(name, "", {
    key: `task.${key}.prompt_template`,
    persisted: true,
    text: `Prompt ${what}; empty for the built-in one`,
  });

const toggle = (name: string, key: string, what: string) =>
  bool(name, true, { key: `task.${key}.enable`, persisted: true, text: what });

/** Settings of what models do beside chats (appendix A3). */
export const taskVariables = {
  title: toggle("ENABLE_TITLE_GENERATION", "title", "Chat titles are written by a model"),
  titleTemplate: template("TITLE_GENERATION_PROMPT_TEMPLATE", "title", "that asks for a chat's title"),
  tags: toggle("ENABLE_TAGS_GENERATION", "tags", "Chats are tagged by a model"),
  tagsTemplate: template("TAGS_GENERATION_PROMPT_TEMPLATE", "tags", "that asks for a chat's tags"),
  followUps: toggle(
    "ENABLE_FOLLOW_UP_GENERATION",
    "follow_up",
    "Replies come with suggestions of what to ask next",
  ),
  followUpsTemplate: template(
    "FOLLOW_UP_GENERATION_PROMPT_TEMPLATE",
    "follow_up",
    "that asks for suggestions of what to ask next",
  ),
  imagePromptTemplate: template(
    "IMAGE_PROMPT_GENERATION_PROMPT_TEMPLATE",
    "image",
    "that asks for the description of a picture to paint",
  ),
  autocomplete: bool("ENABLE_AUTOCOMPLETE_GENERATION", false, {
    key: "task.autocomplete.enable",
    persisted: true,
    text: "What is being typed can be continued by a model",
  }),
  autocompleteLength: int("AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH", -1, {
    key: "task.autocomplete.input_max_length",
    persisted: true,
    min: -1,
    text: "Most characters of a text that is continued; -1 is unlimited",
  }),
  autocompleteTemplate: template(
    "AUTOCOMPLETE_GENERATION_PROMPT_TEMPLATE",
    "autocomplete",
    "that asks for the continuation of a text",
  ),
  searchQueries: toggle(
    "ENABLE_SEARCH_QUERY_GENERATION",
    "query.search",
    "A model writes the queries of web searches",
  ),
  retrievalQueries: toggle(
    "ENABLE_RETRIEVAL_QUERY_GENERATION",
    "query.retrieval",
    "A model writes the queries that look into files",
  ),
  queryTemplate: template("QUERY_GENERATION_PROMPT_TEMPLATE", "query", "that asks for search queries"),
  timeout: seconds("CHAT_TASK_TIMEOUT_SECONDS", 120, {
    min: 1,
    text: "Seconds a model has for a title, tags, suggestions or queries; the work is given up then",
  }),
};

export type TaskSettings = Values<typeof taskVariables>;

/** The keys of this plugin in the form of task settings. */
export const formNames: readonly string[] = Object.values(taskVariables)
  .filter((variable) => variable.persisted)
  .map(({ name }) => name);
