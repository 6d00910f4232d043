import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import type { Chats } from "#plugins/chats/service.ts";
import { limits, readNewTasks, statuses, type Task, toResult, withStatus } from "./checklist.ts";

interface Parts {
  readonly chats: Pick<Chats, "changeTasks">;
  readonly hub: Pick<Hub, "emit">;
}

/** A checklist belongs to a chat that is kept (contract §3.6, category `tasks`). */
const common = {
  category: "tasks",
  isOffered: ({ isSaved }) => isSaved,
} as const satisfies Partial<Tool>;

const status = { type: "string", enum: statuses };

/** Tools that keep a checklist with the chat and show every change of it. */
export function createTaskTools(parts: Parts): readonly Tool[] {
  return [createTool(parts), updateTool(parts)];
}

function createTool(parts: Parts): Tool {
  return defineTool({
    ...common,
    id: "task-list.create_tasks",
    title: "Make a checklist",
    spec: {
      name: "create_tasks",
      description:
        "Writes the checklist of this chat, which the user sees: use it for work of several steps. It replaces the one before, so send all tasks.",
      parameters: {
        type: "object",
        properties: {
          tasks: {
            type: "array",
            minItems: 1,
            maxItems: limits.tasks,
            items: {
              type: "object",
              properties: {
                content: { type: "string", maxLength: limits.content },
                status: { ...status, default: "pending" },
                id: { type: "string", maxLength: limits.id, description: "Made up where it is left out" },
              },
              required: ["content"],
            },
          },
        },
        required: ["tasks"],
      },
    },
    run(parameters, context) {
      const tasks = readNewTasks(parameters["tasks"]);
      return change(parts, context, () => tasks);
    },
  });
}

function updateTool(parts: Parts): Tool {
  return defineTool({
    ...common,
    id: "task-list.update_task",
    title: "Update the checklist",
    spec: {
      name: "update_task",
      description: "Changes how far one task of the checklist is.",
      parameters: {
        type: "object",
        properties: { id: { type: "string" }, status },
        required: ["id", "status"],
      },
    },
    run: (parameters, context) =>
      change(parts, context, (stored) =>
        withStatus(stored, { id: parameters["id"], status: parameters["status"] }),
      ),
  });
}

async function change(
  { chats, hub }: Parts,
  { principal, chatId, messageId }: ToolContext,
  toTasks: (stored: unknown) => Task[],
) {
  if (chatId === undefined) {
    throw new AppError("invalid", "A checklist needs a chat that it belongs to.");
  }
  const tasks = await chats.changeTasks(principal, chatId, toTasks);
  const envelope = toEnvelope({ type: "chat:message:tasks", data: { tasks } }, { chatId, messageId });
  hub.emit(toRoom("user", principal.userId), "events", envelope);
  return toResult(tasks);
}
