import type { Messages } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { PromptSuggestion } from "#plugins/web/kit/stores/session.svelte.ts";

/** A built-in suggestion in the language of the page, which has all its texts; one that somebody wrote stays. */
export function translateSuggestion(suggestion: PromptSuggestion, messages: Messages): PromptSuggestion {
  const [first, second, content] = [...suggestion.title, suggestion.content].map((text) =>
    Object.hasOwn(messages, text) ? messages[text] : undefined,
  );
  return typeof first === "string" && typeof second === "string" && typeof content === "string"
    ? { title: [first, second], content }
    : suggestion;
}
