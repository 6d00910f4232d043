import { z } from "zod";
import { AppError } from "#kernel/errors.ts";

export const statuses = ["pending", "in_progress", "completed", "cancelled"] as const;

const Status = z.enum(statuses);
const Task = z.object({ id: z.string(), content: z.string(), status: Status });

/** A line of a checklist. */
export type Task = z.output<typeof Task>;

export const limits = { tasks: 100, content: 500, id: 50 };

const NewTask = z.object({
  content: z.string().trim().min(1).max(limits.content),
  status: Status.default("pending"),
  id: z
    .union([z.string().trim().min(1).max(limits.id), z.number().transform(String)])
    .nullish()
    .transform((id) => id ?? undefined),
});

const NewTasks = z.array(NewTask).min(1).max(limits.tasks);

/** The checklist that a model sends; lines without an id are numbered. Throws `invalid` naming the field. */
export function readNewTasks(sent: unknown): Task[] {
  const tasks = parse(NewTasks, sent, "tasks");
  const taken = new Set(tasks.flatMap(({ id }) => id ?? []));
  let number = 0;
  const all = tasks.map(({ id, content, status }) => {
    if (id !== undefined) {
      return { id, content, status };
    }
    do {
      number += 1;
    } while (taken.has(String(number)));
    return { id: String(number), content, status };
  });
  const double = all.find(({ id }, at) => all.findIndex((other) => other.id === id) !== at);
  if (double !== undefined) {
    throw new AppError("invalid", `tasks: two have the id "${double.id}".`);
  }
  return all;
}

/** The stored checklist with one line changed. Throws `not_found` telling which ids there are. */
export function withStatus(stored: unknown, { id, status }: { id: unknown; status: unknown }): Task[] {
  const wanted = parse(Status, status, "status");
  const tasks = readStored(stored);
  const name = String(id);
  if (!tasks.some((task) => task.id === name)) {
    const known = tasks.map((task) => `"${task.id}"`).join(", ");
    throw new AppError(
      "not_found",
      tasks.length === 0
        ? "There is no checklist yet. Make one with create_tasks."
        : `There is no task "${name.slice(0, limits.id)}". The ids are ${known}.`,
    );
  }
  return tasks.map((task) => (task.id === name ? { ...task, status: wanted } : task));
}

/** Chats are imported as well: what is no line of a checklist is passed over. */
function readStored(stored: unknown): Task[] {
  return (Array.isArray(stored) ? (stored as unknown[]) : []).flatMap(
    (task) => Task.safeParse(task).data ?? [],
  );
}

/** A checklist as models are told of it (appendix A7). */
export function toResult(tasks: readonly Task[]) {
  const counts = statuses.map((status) => [status, tasks.filter((task) => task.status === status).length]);
  return { tasks, summary: { total: tasks.length, ...Object.fromEntries(counts) } };
}

function parse<T>(shape: z.ZodType<T>, value: unknown, name: string): T {
  const read = shape.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new AppError(
      "invalid",
      `${[name, ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "is wrong"}`,
    );
  }
  return read.data;
}
