import { expect, it } from "vitest";
import { builtInSuggestions } from "#plugins/settings/suggestions.ts";
import german from "#plugins/settings/web/locales/de.json" with { type: "json" };
import { translateSuggestion } from "./suggestions.ts";

it("every built-in suggestion is shown in the language of the page", () => {
  for (const suggestion of builtInSuggestions) {
    const shown = translateSuggestion(suggestion, german);
    expect(shown.title[0]).not.toBe(suggestion.title[0]);
    expect(shown.title[1]).not.toBe(suggestion.title[1]);
    expect(shown.content).not.toBe(suggestion.content);
  }
});

it("a suggestion that somebody wrote stays as it is", () => {
  const written = { title: ["Plan a week", ""] as const, content: "Plan my week" };
  expect(translateSuggestion(written, german)).toBe(written);
});

it("in English the built-in ones are as they are", () => {
  for (const suggestion of builtInSuggestions) {
    expect(translateSuggestion(suggestion, {})).toBe(suggestion);
  }
});
