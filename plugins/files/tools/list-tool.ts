import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import { type ChatFiles, common } from "./chat-files.ts";

/** Names the files of the chat. */
export function listTool(files: ChatFiles): Tool {
  return defineTool({
    ...common,
    id: "files.list_chat_files",
    title: "List the files of the chat",
    spec: {
      name: "list_chat_files",
      description:
        "Lists the files that the user brought into this chat, with the ids that the other tools need.",
      parameters: { type: "object", properties: {}, required: [] },
    },
    async run(_parameters, { principal }) {
      const list = await files.list(principal);
      return list.map(({ id, filename, meta, data, created_at }) => ({
        file_id: id,
        filename,
        content_type: meta["content_type"] ?? null,
        size: meta["size"] ?? null,
        status: data["status"],
        created_at,
      }));
    },
  });
}
