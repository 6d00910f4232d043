import { type ExportedChat, type ExportedMessage, messageText, shownBranch } from "./exported.ts";

/** Words that stand above the messages of people; replies carry the name of their model. */
export interface SpeakerWords {
  readonly you: string;
  readonly assistant: string;
  readonly system: string;
}

/** The shown branch of a chat as Markdown: a heading for the chat, one for each message. */
export function toMarkdown(chat: ExportedChat, words: SpeakerWords): string {
  const parts = shownBranch(chat.chat).map(
    (message) => `## ${oneLine(speaker(message, words))}\n\n${messageText(message).trim()}`,
  );
  return `${[`# ${oneLine(titleOf(chat))}`, ...parts].join("\n\n")}\n`;
}

/** The shown branch of a chat as plain text. */
export function toPlainText(chat: ExportedChat, words: SpeakerWords): string {
  const title = oneLine(titleOf(chat));
  const parts = shownBranch(chat.chat).map(
    (message) => `${oneLine(speaker(message, words))}:\n${messageText(message).trim()}`,
  );
  return `${[`${title}\n${"=".repeat(Math.min(80, Array.from(title).length))}`, ...parts].join("\n\n")}\n`;
}

/** A name for the file that every system takes. */
export function toFileName(title: string, ending: string): string {
  const name = title
    // Signs that paths and shells read, and those that turn the direction of text.
    .replaceAll(/[\p{Cc}\p{Cf}\\/:*?"<>|#%]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/^[ .]+|[ .]+$/g, "");
  return `${Array.from(name).slice(0, 80).join("").trim() || "chat"}.${ending}`;
}

function titleOf(chat: ExportedChat): string {
  return chat.title ?? chat.chat.title ?? "";
}

function speaker({ role, modelName, model }: ExportedMessage, words: SpeakerWords): string {
  if (role === "assistant") {
    return modelName || model || words.assistant;
  }
  return role === "system" ? words.system : words.you;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
