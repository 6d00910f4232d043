import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { bodies, startTasks, type TasksApp } from "./chat-tasks.fixture.ts";

let tasks: TasksApp;
let upstream: Upstream;

beforeAll(async () => {
  tasks = await startTasks();
  ({ upstream } = tasks);
});
afterAll(() => tasks.close());
beforeEach(() => upstream.always("/chat/completions", text("no script")));

describe("merged answers", () => {
  it("stream to the published SDK, as of any other completion", async () => {
    const sdk = new OpenAI({
      baseURL: `${tasks.app.url}/api/v1/tasks/moa`,
      apiKey: tasks.admin.token,
      maxRetries: 0,
    });
    upstream.reply("/chat/completions", text("Above you, I think."));
    const request = { model: "alpha", ...bodies["moa"], stream: true } as never;
    // The SDK posts to <base>/chat/completions.
    const stream = sdk.post("/completions", { body: request, stream: true }) as unknown as Promise<
      AsyncIterable<OpenAI.ChatCompletionChunk>
    >;
    let joined = "";
    for await (const chunk of await stream) {
      joined += chunk.choices[0]?.delta.content ?? "";
    }
    expect(joined).toBe("Above you, I think.");
    upstream.reply("/chat/completions", text("Yes."));
    const raw = await tasks.run("moa", { stream: true });
    expect(raw.headers.get("content-type")).toContain("text/event-stream");
    expect(raw.text.endsWith("data: [DONE]\n\n")).toBe(true);
  });
});

describe("settings", () => {
  it("are read by members and changed by administrators", async () => {
    const user = await tasks.app.user();
    expect((await user.call("GET /api/v1/tasks/config")).body).toEqual({
      TASK_MODEL: "",
      TASK_MODEL_EXTERNAL: "worker",
      TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE: "",
      ENABLE_VOICE_MODE_PROMPT: true,
      VOICE_MODE_PROMPT_TEMPLATE: "",
      ENABLE_TITLE_GENERATION: true,
      TITLE_GENERATION_PROMPT_TEMPLATE: "",
      ENABLE_TAGS_GENERATION: true,
      TAGS_GENERATION_PROMPT_TEMPLATE: "",
      ENABLE_FOLLOW_UP_GENERATION: true,
      FOLLOW_UP_GENERATION_PROMPT_TEMPLATE: "",
      IMAGE_PROMPT_GENERATION_PROMPT_TEMPLATE: "",
      ENABLE_AUTOCOMPLETE_GENERATION: true,
      AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH: -1,
      AUTOCOMPLETE_GENERATION_PROMPT_TEMPLATE: "",
      ENABLE_SEARCH_QUERY_GENERATION: true,
      ENABLE_RETRIEVAL_QUERY_GENERATION: true,
      QUERY_GENERATION_PROMPT_TEMPLATE: "",
    });
    for (const wrong of [
      { ENABLE_TAGS_GENERATION: "perhaps" },
      { AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH: -2 },
    ]) {
      expect((await tasks.set(wrong)).status).toBe(422);
    }
    expect((await user.call("GET /api/config")).body.features.enable_autocomplete_generation).toBe(true);
  });

  it.each([
    ["ENABLE_TITLE_GENERATION", "title", {}, 200],
    ["ENABLE_TAGS_GENERATION", "tags", {}, 200],
    ["ENABLE_FOLLOW_UP_GENERATION", "follow_up", {}, 200],
    ["ENABLE_SEARCH_QUERY_GENERATION", "queries", { type: "web_search" }, 400],
    ["ENABLE_RETRIEVAL_QUERY_GENERATION", "queries", { type: "retrieval" }, 400],
    ["ENABLE_AUTOCOMPLETE_GENERATION", "auto", {}, 403],
  ])("%s off: %s %j answers %s and asks no model", async (variable, task, body, status) => {
    await tasks.set({ [variable]: false });
    const before = upstream.requests.length;
    expect(await tasks.run(task, body)).toMatchObject({
      status,
      body: { detail: expect.stringMatching(/generation is disabled$/) },
    });
    expect(upstream.requests.length).toBe(before);
    await tasks.set({ [variable]: true });
    expect((await tasks.run(task, body)).status).toBe(200);
  });

  it("bound what is continued", async () => {
    await tasks.set({ AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH: 5 });
    const answer = await tasks.run("auto", { prompt: "123456" });
    expect([answer.status, answer.body.detail]).toEqual([400, "prompt is longer than 5 characters."]);
    expect((await tasks.run("auto", { prompt: "12345" })).status).toBe(200);
    await tasks.set({ AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH: -1 });
  });
});
