import type { Script } from "#test/support/upstream-exchange.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";

/** What the scripted model is asked for. */
export const wish = "Raise the limit of the gauge to 231";
const edit = { path: "gauges/read.py", old_text: "LIMIT = 210", new_text: "LIMIT = 231" };

/** The answers of a model that edits a file of the workspace, then says so; undefined for other conversations. */
export function toEdit({
  messages,
}: {
  messages: { role?: string; content: unknown }[];
}): Script | undefined {
  if (!messages.some(({ content }) => JSON.stringify(content ?? "").includes(wish))) {
    return undefined;
  }
  return messages.at(-1)?.role === "tool"
    ? sse(textChunks("The limit is 231 cm now. Nothing else reads it."))
    : sse(toolCallChunks([{ id: "call_edit", name: "edit_file", arguments: JSON.stringify(edit) }]));
}
