import type { Suggestion } from "./schema.ts";

/** The prompts offered while DEFAULT_PROMPT_SUGGESTIONS is not set. */
export const builtInSuggestions: readonly Suggestion[] = [
  {
    title: ["Explain a term", "as to a curious newcomer"],
    content:
      "Explain what a vector database is to somebody who has never heard of one, with an everyday example.",
  },
  {
    title: ["Tidy up a text", "without changing what it says"],
    content: "Rewrite the following text so that it is clear and short, and keep its meaning and tone:\n\n",
  },
  {
    title: ["Compare two ways", "and say when each is right"],
    content: "Compare renting and owning a server for a small team. Name when each is the better choice.",
  },
  {
    title: ["Find the mistake", "in a piece of code"],
    content:
      "Here is a function that does not do what I expect. Find the mistake and explain it:\n\n```\n\n```",
  },
  {
    title: ["Plan a week", "of learning something new"],
    content: "Make a plan of seven short evenings in which I learn the basics of statistics.",
  },
];
