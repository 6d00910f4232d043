import { t } from "./i18n/index.svelte.ts";
import { inWords } from "./in-words.ts";

/** The name of a built-in tool for people. */
export const toolTitle = ({
  title,
  name,
}: {
  readonly title: string | null;
  readonly name: string;
}): string => (title === null ? inWords(name) : titleInWords(title));

/** A title that a tool of the server gives itself, in the language of the person where it is known. */
export function titleInWords(title: string): string {
  const titles: Readonly<Record<string, string>> = {
    "Look at the clock": t("Look at the clock"),
    "Count from today": t("Count from today"),
    "Search chats": t("Search chats"),
    "Read a chat": t("Read a chat"),
    "List the files of the chat": t("List the files of the chat"),
    "Search the files of the chat": t("Search the files of the chat"),
    "Find lines in the files": t("Find lines in the files"),
    "Read a file": t("Read a file"),
    "List the knowledge": t("List the knowledge"),
    "List the collections": t("List the collections"),
    "Find collections": t("Find collections"),
    "Find collections by a question": t("Find collections by a question"),
    "Find files in the knowledge": t("Find files in the knowledge"),
    "Find lines in the knowledge": t("Find lines in the knowledge"),
    "Search the knowledge": t("Search the knowledge"),
    "Make a checklist": t("Make a checklist"),
    "Update the checklist": t("Update the checklist"),
    "Question to you": t("Question to you"),
    "Sub-agent": t("Sub-agent"),
    Timer: t("Timer"),
    "List timers": t("List timers"),
    "Cancel a timer": t("Cancel a timer"),
    "Look into the calendar": t("Look into the calendar"),
    "Add to the calendar": t("Add to the calendar"),
    "Change the calendar": t("Change the calendar"),
    "Remove from the calendar": t("Remove from the calendar"),
    "Search memories": t("Search memories"),
    "List places of memories": t("List places of memories"),
    "Read a place of memories": t("Read a place of memories"),
    "List memories": t("List memories"),
    "Change memories": t("Change memories"),
    "Remember something": t("Remember something"),
    "Correct a memory": t("Correct a memory"),
    "Forget something": t("Forget something"),
    "Make a picture": t("Make a picture"),
    "Change a picture": t("Change a picture"),
    "Search notes": t("Search notes"),
    "Read a note": t("Read a note"),
    "Write a note": t("Write a note"),
    "Change a note": t("Change a note"),
  };
  return titles[title] ?? title;
}

/** The name of a category of built-in tools (contract §3.6). */
export function categoryTitle(category: string | null): string {
  const titles: Readonly<Record<string, string>> = {
    time: t("Time"),
    memory: t("Memory"),
    chats: t("Earlier chats"),
    notes: t("Notes"),
    knowledge: t("Knowledge"),
    files: t("Files of the chat"),
    web_search: t("Web search"),
    image_generation: t("Pictures"),
    code_interpreter: t("Code"),
    channels: t("Channels"),
    tasks: t("Task list"),
    automations: t("Automations"),
    calendar: t("Calendar"),
    subagents: t("Sub-agents"),
    notifications: t("Notifications"),
    ask_user: t("Questions to the person"),
  };
  return category === null ? t("Other tools") : (titles[category] ?? inWords(category));
}

/** The name of a feature that a person switches on for a chat. */
export function featureTitle(feature: string): string {
  const titles: Readonly<Record<string, string>> = {
    web_search: t("Web search"),
    image_generation: t("Make pictures"),
    code_interpreter: t("Run code"),
    memory: t("Memory"),
  };
  return titles[feature] ?? inWords(feature);
}

/** Icons of features, as `findIcon` knows them. */
export const featureIcons: Readonly<Record<string, string>> = {
  web_search: "globe",
  image_generation: "image",
  code_interpreter: "code",
  memory: "brain",
};
