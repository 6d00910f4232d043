import type { Chats } from "#plugins/chats/service.ts";

/** Tools whose results hold nothing that somebody else wrote. */
const harmless = new Set([
  "add_memory",
  "ask_user",
  "calculate_timestamp",
  "create_tasks",
  "delete_memory",
  "get_current_timestamp",
  "list_memories",
  "list_memory_paths",
  "read_memory_path",
  "replace_memory_content",
  "search_memories",
  "update_memory",
  "update_task",
]);

interface Item {
  readonly type?: unknown;
  readonly name?: unknown;
}

/**
 * True when the conversation up to a message holds pages, files or results of tools. What is learned from those may be
 * somebody else's words in the person's name, so it waits for the person's yes. A chat that is not kept counts as one.
 */
export async function holdsForeignContent(
  chats: Pick<Chats, "branch">,
  chatId: string | undefined,
  messageId: string | undefined,
): Promise<boolean> {
  const branch = chatId && messageId ? await chats.branch(chatId, messageId) : [];
  return branch.length === 0 || branch.some(isForeign);
}

function isForeign(message: Readonly<Record<string, unknown>>): boolean {
  const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0;
  const items = Array.isArray(message["output"]) ? (message["output"] as Item[]) : [];
  return (
    isFilled(message["files"]) ||
    isFilled(message["sources"]) ||
    items.some(({ type, name }) => type === "function_call" && !harmless.has(String(name)))
  );
}
