import type { CallContext } from "#kernel/completion/provider.ts";
import { toHeaderText } from "./header-text.ts";

/** What the tokens of header templates stand for (contract §5.4). */
export interface TemplateFacts extends Omit<CallContext, "signal"> {
  /** Names of the caller's groups, joined by commas; looked up only for templates that show them. */
  readonly groupNames?: string;
}

/**
 * Fills `{{TOKEN}}`s of a header value. A token of the list without a value becomes empty, and all of them where nobody
 * asks (lists of models); an unknown one stays as it is. The result holds only what a header may hold, so no value can start a line of its own.
 */
export function fillHeader(template: string, context: TemplateFacts | undefined): string {
  const filled = template.replaceAll(/\{\{([A-Z_]+)\}\}/g, (token, name: string) => {
    const read = tokens[name];
    return read === undefined ? token : toHeaderText((context && read(context)) ?? "");
  });
  return toHeaderText(filled);
}

const tokens: Record<string, (context: TemplateFacts) => string | undefined> = {
  CHAT_ID: (context) => context.chatId,
  MESSAGE_ID: (context) => context.messageId,
  USER_MESSAGE_ID: (context) => context.userMessageId,
  USER_MESSAGE_PARENT_ID: (context) => context.userMessageParentId,
  TASK: (context) => context.task,
  USER_ID: ({ principal }) => principal.userId,
  USER_NAME: ({ principal }) => principal.name,
  USER_EMAIL: ({ principal }) => principal.email,
  USER_ROLE: ({ principal }) => principal.role,
  USER_GROUPS: (context) => context.groupNames,
  USER_GROUP_IDS: ({ principal }) => principal.groupIds.join(","),
  USER_AGENT: (context) => context.userAgent,
  FILE_ID: () => "",
  FILE_NAME: () => "",
  FILE_CONTENT_TYPE: () => "",
};
