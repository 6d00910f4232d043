import type { Message } from "#kernel/completion/request.ts";
import type { Tool } from "./tool.ts";

/** Built-in tools that change nothing that is kept, or nothing but what stands in the chat itself. */
const readers = new Set(
  [
    "ask_user create_tasks update_task get_current_timestamp calculate_timestamp list_timers view_skill",
    "search_web fetch_url generate_image edit_image search_chats view_chat list_automations",
    "search_memories list_memories list_memory_paths read_memory_path search_calendar_events",
    "list_chat_files query_chat_files grep_chat_files view_file search_notes view_note",
    "list_knowledge search_knowledge_files grep_knowledge_files query_knowledge_files view_knowledge_file",
    "list_knowledge_bases search_knowledge_bases query_knowledge_bases",
    "search_channels search_channel_messages view_channel_message view_channel_thread",
  ].flatMap((names) => names.split(" ")),
);

/** Built-in tools whose results hold only words of this platform and of the person. */
const ownWords = new Set([
  "ask_user",
  "create_tasks",
  "update_task",
  "get_current_timestamp",
  "calculate_timestamp",
  "list_timers",
]);

/**
 * Whether a call may change something. MCP servers, documents of OpenAPI and authors say so of their tools; what says
 * nothing counts as acting.
 */
export function isActing({ isActing: own, isExternal, spec }: Tool): boolean {
  return own ?? (isExternal === true || !readers.has(spec.name));
}

/** Whether a result may hold text that nobody of the run wrote. */
export function bringsForeignText(tool: Tool): boolean {
  return tool.isExternal === true || !(ownWords.has(tool.spec.name) || tool.isActing === true);
}

/** The tool of this conversation whose result may hold foreign text; undefined where none was called. */
export function findForeignResult(messages: readonly Message[], tools: readonly Tool[]): string | undefined {
  const names = new Map<string, string>();
  for (const { role, tool_calls: calls, tool_call_id: id } of messages) {
    for (const call of Array.isArray(calls) ? calls : []) {
      const { id: callId, function: called } = call as { id?: unknown; function?: { name?: unknown } };
      names.set(String(callId), String(called?.name ?? ""));
    }
    const name = role === "tool" ? (names.get(String(id)) ?? "a tool") : undefined;
    const tool = tools.find(({ spec }) => spec.name === name);
    if (name !== undefined && (tool === undefined ? !ownWords.has(name) : bringsForeignText(tool))) {
      return name;
    }
  }
  return undefined;
}
