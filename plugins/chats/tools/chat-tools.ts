import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import type { ChatParts } from "../parts.ts";
import { readBranch } from "../reading/read-branch.ts";
import { searchChats } from "../search/search.ts";
import type { ChatMessage } from "../service.ts";

type Parts = Pick<ChatParts, "db" | "chats" | "folders">;
type Parameters = Readonly<Record<string, unknown>>;

const category = "chats";
const limits = { hits: 20, messages: 100, charsPerMessage: 8_000, chars: 60_000 };

/** Tools that look into the person's other chats (contract §3.6, category `chats`). */
export function createChatTools(parts: Parts): readonly Tool[] {
  return [searchTool(parts), viewTool(parts)];
}

function searchTool({ db, folders }: Parts): Tool {
  return defineTool({
    id: "chats.search_chats",
    category,
    isParallel: true,
    title: "Search chats",
    spec: {
      name: "search_chats",
      description:
        "Searches the titles and messages of the user's other chats, the newest first. Read a hit with view_chat.",
      parameters: {
        type: "object",
        properties: {
          query: {
            type: "string",
            description:
              "Words that all have to occur; empty lists the newest chats. tag:x and folder:x narrow down.",
          },
          count: { type: "integer", minimum: 1, maximum: limits.hits, default: 5 },
          start_timestamp: { type: "integer", description: "Unix seconds: changed since then" },
          end_timestamp: { type: "integer", description: "Unix seconds: changed until then" },
        },
        required: ["query"],
      },
    },
    async run(parameters, { principal, chatId }) {
      const [folder] = folders.list();
      const rows = await searchChats(db, principal.userId, {
        text: toText(parameters["query"]).slice(0, 1_000),
        page: { limit: toCount(parameters, "count", { standard: 5, max: limits.hits }), offset: 0 },
        filter: {
          changedSince: toTimestamp(parameters, "start_timestamp"),
          changedUntil: toTimestamp(parameters, "end_timestamp"),
          except: chatId,
        },
        foldersNamed: async (text) => (await folder?.named(principal, text)) ?? [],
      });
      return rows.map(({ id, title, snippet, updated_at }) => ({
        id,
        title,
        snippet: snippet ?? "",
        updated_at,
      }));
    },
  });
}

function viewTool({ db, chats }: Parts): Tool {
  return defineTool({
    id: "chats.view_chat",
    category,
    isParallel: true,
    title: "Read a chat",
    spec: {
      name: "view_chat",
      description:
        "Reads one of the user's chats: the end of what was said in it, long messages cut. `skip` goes further back.",
      parameters: {
        type: "object",
        properties: {
          chat_id: { type: "string", description: "The id that search_chats gave" },
          count: { type: "integer", minimum: 1, maximum: limits.messages, default: 30 },
          skip: { type: "integer", minimum: 0, default: 0, description: "Newest messages that are left out" },
        },
        required: ["chat_id"],
      },
    },
    async run(parameters, { principal }: ToolContext) {
      // To write is what owners alone may: administrators do not read the chats of others through a model.
      const chat = await chats.find(principal, toText(parameters["chat_id"]), "write");
      if (chat === undefined) {
        throw new AppError("not_found", "There is no such chat of the user's.");
      }
      const count = toCount(parameters, "count", { standard: 30, max: limits.messages });
      const skip = toCount(parameters, "skip", { standard: 0, max: 1_000_000, min: 0 });
      const leaf = chat.current_message_id;
      const branch = leaf === null ? [] : await readBranch(db, chat.id, { leaf, limit: skip + count + 1 });
      const end = Math.max(0, branch.length - skip);
      const messages = fitting(branch.slice(Math.max(0, end - count), end));
      return {
        id: chat.id,
        title: chat.title,
        created_at: chat.created_at,
        updated_at: chat.updated_at,
        messages,
        has_earlier_messages: end > messages.length,
      };
    },
  });
}

interface Said {
  readonly role: unknown;
  readonly content: string;
}

/** As many of the last messages as a model's context should take; the first of them may be cut. */
function fitting(messages: readonly ChatMessage[]): Said[] {
  let left = limits.chars;
  const fit: Said[] = [];
  for (const message of messages.toReversed()) {
    const content = shorten(textOf(message), limits.charsPerMessage);
    left -= content.length;
    if (left < 0 && fit.length > 0) {
      break;
    }
    fit.unshift({ role: message["role"], content });
  }
  return fit;
}

function textOf({ content }: ChatMessage): string {
  const parts = Array.isArray(content) ? (content as ({ text?: unknown } | null)[]) : [{ text: content }];
  return parts.flatMap((part) => (typeof part?.text === "string" ? part.text : [])).join("\n");
}

function shorten(text: string, length: number): string {
  return text.length > length
    ? `${text.slice(0, length).toWellFormed()}… [${text.length - length} more characters]`
    : text;
}

/** Without the one character that the database refuses. */
const toText = (value: unknown): string => (typeof value === "string" ? value.replaceAll("\u0000", "") : "");

function toCount(
  parameters: Parameters,
  name: string,
  { standard, max, min = 1 }: { standard: number; max: number; min?: number },
): number {
  const value = Math.floor(Number(parameters[name] ?? standard));
  return Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : standard;
}

function toTimestamp(parameters: Parameters, name: string): number | undefined {
  const value = parameters[name];
  if (value === undefined || value === null || value === "") {
    return undefined;
  }
  const seconds = Math.floor(Number(value));
  if (!Number.isSafeInteger(seconds)) {
    throw new AppError("invalid", `${name}: is no Unix timestamp in seconds.`);
  }
  return seconds;
}
