import type { Principal } from "#kernel/access/principal.ts";
import type { Slot } from "#kernel/service.ts";
import { AppError } from "#kernel/errors.ts";
import type { ToolRun, ToolSource } from "#kernel/tools/tool.ts";
import type { FileLoaders } from "../access.ts";
import { toRecord } from "../record.ts";
import type { ChatFileLists, PassageSearch } from "../service.ts";
import type { ChatFiles, ChatFileSettings } from "./chat-files.ts";
import { grepTool } from "./grep-tool.ts";
import { listTool } from "./list-tool.ts";
import { queryTool } from "./query-tool.ts";
import { viewTool } from "./view-tool.ts";

export interface ChatFileParts {
  readonly chats: Slot<ChatFileLists>;
  readonly searches: Slot<PassageSearch>;
  readonly loaders: Pick<FileLoaders, "bare" | "reachable">;
  readonly config: ChatFileSettings;
}

/** More files than a model could look through. */
const maxFiles = 200;

/**
 * Tools over the files of a chat. They stand in for the files' texts: a model whose capability `file_context` is on
 * gets those with the question already.
 */
export function createChatFileTools(parts: ChatFileParts): ToolSource {
  return {
    id: "files.of-chat",
    // A chat brings them along; nobody asks for them by id.
    granted: async () => [],
    async select({ principal, run }) {
      const ids = run && mayRead(run) ? await findIds(parts, principal, run) : [];
      // Without a run somebody only looks at what there is.
      if (run && ids.length === 0) {
        return [];
      }
      const files = toChatFiles(parts, ids);
      return [listTool(files), queryTool(files), grepTool(files), viewTool(files)];
    },
  };
}

function mayRead({ model }: ToolRun): boolean {
  const capabilities = (model.meta["capabilities"] ?? {}) as Readonly<Record<string, unknown>>;
  return capabilities["file_upload"] !== false && capabilities["file_context"] === false;
}

async function findIds({ chats }: ChatFileParts, principal: Principal, run: ToolRun): Promise<string[]> {
  const { chatId, isSaved, request } = run;
  const lists =
    chatId !== undefined && isSaved
      ? await Promise.all(chats.list().map((list) => list.list(principal, chatId)))
      : [];
  const sent = Array.isArray(request["files"]) ? (request["files"] as unknown[]).flatMap(idOf) : [];
  return [...new Set([...lists.flat(), ...sent])].slice(0, maxFiles);
}

/** An entry of a request that names a file, not a collection or an address. */
function idOf(entry: unknown): string[] {
  const { type = "file", id } = (entry ?? {}) as { type?: unknown; id?: unknown };
  return (type === "file" || type === "image") && typeof id === "string" ? [id] : [];
}

function toChatFiles({ loaders, config, searches }: ChatFileParts, ids: readonly string[]): ChatFiles {
  return {
    config,
    searches,
    async list(principal) {
      const found = await Promise.all(ids.map((id) => loaders.bare.find(principal, id, "read")));
      return found.flatMap((row) => (row === undefined ? [] : [toRecord(row)]));
    },
    async load(principal, fileId) {
      const id = ids.find((one) => one === fileId);
      const row = id === undefined ? undefined : await loaders.reachable.find(principal, id, "read");
      if (row === undefined) {
        throw new AppError(
          "not_found",
          "There is no such file in this chat. list_chat_files tells which are.",
        );
      }
      return toRecord(row);
    },
  };
}
