import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Tasks } from "./live/tasks.ts";

const ChatParams = z.object({ chat_id: z.string().min(1).max(200) });
const TaskList = z.object({ task_ids: z.array(z.string()) }).meta({ id: "TaskList" });
const Stopped = z
  .object({ status: z.boolean(), message: z.string(), task_ids: z.array(z.string()).optional() })
  .meta({ id: "StoppedTasks" });

/** Runs under way (Core API, Waiting for a chat-bound run; contract §3.5). */
export function taskRoutes(tasks: Tasks) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/api/tasks",
        summary: "List the runs of everybody",
        access: "admin",
        returns: z.object({ tasks: z.array(z.string()) }),
      },
      async () => ({ tasks: await tasks.all() }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/tasks/chat/:chat_id",
        summary: "List the runs of a chat; none means that its reply is complete",
        access: "user",
        params: ChatParams,
        returns: TaskList,
        fails: [404],
      },
      async ({ caller, params }) => ({ task_ids: await tasks.list(caller, params.chat_id) }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/api/tasks/chat/:chat_id/stop",
        summary: "Stop the runs of a chat; what they wrote stays",
        access: "user",
        params: ChatParams,
        returns: Stopped,
        fails: [404],
      },
      async ({ caller, params }) => {
        const ids = await tasks.stopChat(caller, params.chat_id);
        const message = ids.length === 0 ? "Nothing is running in this chat." : "The runs are being stopped.";
        return { status: true, message, task_ids: ids };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/api/tasks/stop/:task_id",
        summary: "Stop a run of anybody",
        access: "admin",
        params: z.object({ task_id: z.string().min(1).max(200) }),
        returns: Stopped,
        fails: [404],
      },
      async ({ params }) => {
        await tasks.stopOne(params.task_id);
        return { status: true, message: `Task ${params.task_id} is being stopped.` };
      },
    ),
  ] as const;
}
