import type { Task } from "../data/types.ts";

const statuses = ["pending", "in_progress", "completed", "cancelled"] as const;

interface ShownTask {
  readonly id: string;
  readonly title: string;
  readonly status: (typeof statuses)[number];
}

/** Tasks as they are shown; of two with one id the later counts, and an unknown status is an open task. */
export function readTasks(tasks: readonly Task[]): readonly ShownTask[] {
  const byId = tasks.map((task, index): [string, ShownTask] => {
    const id = task.id ?? `#${index}`;
    const status = statuses.find((one) => one === task.status) ?? "pending";
    return [id, { id, title: task.content ?? task.title ?? id, status }];
  });
  return [...new Map(byId).values()];
}
