import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { failure, rateLimited, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { bodies, startTasks, type TasksApp } from "./chat-tasks.fixture.ts";

const unknownChat = "00000000-0000-4000-8000-000000000000";
let tasks: TasksApp;
let upstream: Upstream;

beforeAll(async () => {
  tasks = await startTasks({ CHAT_TASK_TIMEOUT_SECONDS: "1" });
  ({ upstream } = tasks);
});
afterAll(() => tasks.close());
beforeEach(() => upstream.always("/chat/completions", text("no script")));

describe("what goes wrong is told", () => {
  it.each(Object.keys(bodies))("%s: unknown models and chats of others are not there", async (task) => {
    const before = upstream.requests.length;
    const user = await tasks.app.user();
    const { id } = await chatClient(tasks.app, tasks.admin.token).make(conversation());
    expect((await tasks.run(task, { model: "nope" })).status).toBe(404);
    expect((await tasks.run(task, { model: "worker" }, user.token)).body.detail).toBe("Model not found");
    for (const chat_id of [id, unknownChat]) {
      const foreign = await tasks.run(task, { chat_id }, user.token);
      expect([foreign.status, foreign.body.detail]).toEqual([404, "Chat not found"]);
    }
    expect(upstream.requests.slice(before).filter(({ method }) => method === "POST")).toEqual([]);
    upstream.reply("/chat/completions", text("{}"));
    expect((await tasks.run(task, { chat_id: id })).status).toBe(200);
  });

  it.each(Object.keys(bodies))("%s: a refusal of the provider reaches the caller", async (task) => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 3 }));
    const { status, headers } = await tasks.run(task);
    expect([status, headers.get("retry-after")]).toEqual([429, "3"]);
    upstream.reply("/chat/completions", failure(500, "overloaded"));
    expect((await tasks.run(task)).status).toBe(500);
  });

  it("a model that does not come to an end is given up", async () => {
    upstream.reply("/chat/completions", (exchange) => exchange.wait(60_000));
    const { status, body } = await tasks.run("title");
    expect([status, body.detail]).toEqual([504, "The model did not answer in time."]);
  });

  it.each([
    ["title", { messages: undefined }],
    ["tags", { messages: [] }],
    ["tags", { messages: "Hi" }],
    ["follow_up", { messages: [{ content: "Hi" }] }],
    ["queries", { type: "gossip" }],
    ["image_prompt", { model: 7 }],
    ["auto", { prompt: undefined }],
    ["auto", { prompt: "" }],
    ["emoji", { prompt: null }],
    ["moa", { responses: [] }],
    ["moa", { responses: "one" }],
    ["moa", { stream: "yes" }],
  ])("%s refuses %j and names the field", async (task, body) => {
    const { status, body: answer } = await tasks.run(task, body);
    expect([status, answer.detail[0].loc.slice(0, 2)]).toEqual([422, ["body", Object.keys(body)[0]]]);
  });
});
