import { afterAll, beforeAll, expect, it } from "vitest";
import { eventsOf, type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";

let stage: RunStage;
beforeAll(async () => void (stage = await startRunStage()));
afterAll(() => stage?.close());

const summary = { total: 0, pending: 0, in_progress: 0, completed: 0, cancelled: 0 };

it("keeps the checklist with the chat, and shows every change at once", async () => {
  const client = await stage.connect();
  const chat = await stage.makeChat("Build a mill");
  const { values, reply } = await runScripted(
    stage,
    [
      {
        name: "create_tasks",
        args: {
          tasks: [
            { content: "Dig", status: "in_progress" },
            { content: "Build", id: "b" },
          ],
        },
      },
      { name: "update_task", args: { id: "1", status: "completed" } },
      { name: "update_task", args: { id: "b", status: "cancelled" } },
    ],
    { chat },
  );
  const dug = { id: "1", content: "Dig", status: "completed" };
  const built = { id: "b", content: "Build", status: "cancelled" };
  expect(values).toEqual([
    {
      tasks: [
        { ...dug, status: "in_progress" },
        { ...built, status: "pending" },
      ],
      summary: { ...summary, total: 2, pending: 1, in_progress: 1 },
    },
    {
      tasks: [dug, { ...built, status: "pending" }],
      summary: { ...summary, total: 2, pending: 1, completed: 1 },
    },
    { tasks: [dug, built], summary: { ...summary, total: 2, completed: 1, cancelled: 1 } },
  ]);
  expect((await stage.read(chat.chatId)).tasks).toEqual([dug, built]);
  const shown = eventsOf(client, chat.replyId).filter(({ data }) => data.type === "chat:message:tasks");
  expect(shown.map(({ data }) => data.data.tasks)).toEqual(values.map(({ tasks }) => tasks));
  expect(reply.output.filter(({ is_error: isError }: { is_error?: boolean }) => isError)).toEqual([]);
  // The next reply finds it, and a new one takes its place.
  const next = await runScripted(
    stage,
    [
      { name: "update_task", args: { id: "1", status: "pending" } },
      { name: "create_tasks", args: { tasks: [{ content: "Rest" }] } },
    ],
    { chat },
  );
  expect(next.values[0].tasks[0].status).toBe("pending");
  expect((await stage.read(chat.chatId)).tasks).toEqual([{ id: "1", content: "Rest", status: "pending" }]);
});

it("tells the model what is wrong, and changes nothing then", async () => {
  const chat = await stage.makeChat();
  const { results } = await runScripted(
    stage,
    [
      { name: "update_task", args: { id: "1", status: "completed" } },
      {
        name: "create_tasks",
        args: {
          tasks: [
            { content: "a", id: "x" },
            { content: "b", id: "x" },
          ],
        },
      },
      { name: "create_tasks", args: { tasks: [{ content: " " }] } },
      { name: "create_tasks", args: { tasks: "none" } },
      { name: "create_tasks", args: { tasks: Array.from({ length: 101 }, () => ({ content: "a" })) } },
      { name: "create_tasks", args: { tasks: [{ content: "nul \u0000 and \ud800" }] } },
      { name: "update_task", args: { id: "2", status: "completed" } },
      { name: "update_task", args: { id: "1", status: "done" } },
    ],
    { chat },
  );
  expect(results.map((result) => result.slice(0, 40))).toEqual([
    "Error: There is no checklist yet. Make o",
    'Error: tasks: two have the id "x".',
    expect.stringMatching(/^Error: tasks\.0\.content: /),
    expect.stringMatching(/^Error: tasks: /),
    expect.stringMatching(/^Error: tasks: /),
    expect.stringMatching(/^\{"tasks":/),
    'Error: There is no task "2". The ids are',
    expect.stringMatching(/^Error: status: /),
  ]);
  expect((await stage.read(chat.chatId)).tasks).toMatchObject([{ id: "1", status: "pending" }]);
});

it("is not offered where nothing is kept", async () => {
  const temporary = { chatId: `temporary:${crypto.randomUUID()}`, replyId: crypto.randomUUID() };
  const { offered } = await runScripted(stage, [], { chat: temporary });
  expect(offered).toContain("get_current_timestamp");
  expect(offered).not.toContain("create_tasks");
});
