import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { ToolContext } from "#kernel/tools/tool.ts";

/** A call that has ended. */
export interface TerminalUse {
  readonly terminalId: string;
  readonly operation: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly output: ToolOutput;
  readonly context: ToolContext;
}

/** Operations after which a list of files may be out of date, or a file is to be shown (contract §3.4). */
const told = new Set(["display_file", "write_file", "replace_file_content", "run_command"]);

/** Tells the person's open pages what a model did at a terminal. */
export function showUse(
  hub: Hub | undefined,
  { terminalId, operation, given, output, context }: TerminalUse,
): void {
  if (hub === undefined || !told.has(operation)) {
    return;
  }
  const { principal, chatId, messageId } = context;
  const answered = (output.value as { path?: unknown } | undefined)?.path;
  const path = typeof answered === "string" ? answered : given["path"];
  const data = { terminal_id: terminalId, ...(typeof path === "string" && { path }) };
  const envelope = toEnvelope({ type: `terminal:${operation}`, data }, { chatId, messageId });
  hub.emit(toRoom("user", principal.userId), "events", envelope);
}
