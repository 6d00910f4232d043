import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { outlets, probes } from "../reply/probes.fixture.ts";
import { runs, toolbox } from "./tools.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
let sdk: OpenAI;

const messages = [
  { role: "system" as const, content: "Be short." },
  { role: "user" as const, content: "What is the weather in Berlin?" },
];
const legacy = { params: { function_calling: "legacy" } };

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  app = await keep(
    startApp({
      plugins: [probes, toolbox],
      env: {
        OPENAI_API_BASE_URLS: `${upstream.url};${upstream.url}`,
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { access: "everyone", model_ids: ["alpha"] },
          1: { access: "admins", model_ids: ["worker"] },
        }),
        TASK_MODEL_EXTERNAL: "worker",
      },
    }),
  );
  admin = await app.admin();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });
});

beforeEach(() => {
  runs.length = 0;
  upstream.always("/chat/completions", text("It is sunny."));
});

/** What the task model answers to the next question. */
const choose = (answer: unknown) =>
  upstream.reply(
    ({ body }) => body?.model === "worker",
    text(typeof answer === "string" ? answer : JSON.stringify(answer)),
  );
const forecast = (city = "Berlin") => ({ tool_calls: [{ name: "forecast", parameters: { city } }] });

/** The answer, with what the task model and the model were asked for it. */
async function complete(body: object = {}, token = admin.token) {
  const before = upstream.requests.length;
  const answer = await app.call("POST /api/chat/completions", {
    token,
    body: { model: "alpha", messages, ...legacy, tool_ids: ["weather"], ...body },
  });
  const asked = upstream.requests.slice(before).filter(({ path }) => path.endsWith("/chat/completions"));
  const bodyOf = (model: string) => asked.find((request) => request.body.model === model)?.body;
  return { ...answer, task: bodyOf("worker"), model: bodyOf("alpha") };
}

describe("the task model", () => {
  it("gets the tools of tool_ids, the last messages and the query, and streams nothing", async () => {
    choose({ tool_calls: [] });
    const long = Array.from({ length: 9 }, (_, n) => ({
      role: n % 2 ? "assistant" : "user",
      content: `m${n}`,
    }));
    const { task } = await complete({ messages: long, stream: true });
    expect(task).toMatchObject({ model: "worker", stream: false });
    const [system, user] = task.messages;
    expect(system.content).toContain('"name":"forecast"');
    expect(system.content).not.toContain('"name":"clock"');
    expect(user.content).toBe(
      'History:\nASSISTANT: """m5"""\nUSER: """m6"""\nASSISTANT: """m7"""\nUSER: """m8"""\nQuery: m8',
    );
  });

  it("is the chat's own model when none is set for its kind, and reads the operator's template", async () => {
    const setting = (body: object) => admin.call("POST /api/v1/tasks/config/update", body);
    await setting({
      TASK_MODEL_EXTERNAL: "",
      TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE: "Choose of {{TOOLS}}!",
    });
    upstream.reply("/chat/completions", text(JSON.stringify(forecast())));
    const seen = upstream.nextRequest(({ body }) => body?.messages?.[0].content.startsWith("Choose of ["));
    const { task, body } = await complete();
    expect([task, body.sources.length]).toEqual([undefined, 1]);
    expect((await seen).body.model).toBe("alpha");
    await setting({ TASK_MODEL_EXTERNAL: "gone" });
    expect((await complete()).status).toBe(200);
    await setting({ TASK_MODEL_EXTERNAL: "worker", TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE: "" });
  });

  it("is not asked when there is nothing to choose", async () => {
    for (const body of [{ tool_ids: [] }, { tools: [] }, { params: {} }]) {
      expect((await complete(body)).task).toBeUndefined();
    }
  });

  it.each([
    ["no JSON", "I think the forecast tool."],
    ["an unknown tool", { tool_calls: [{ name: "clock", parameters: {} }] }],
    ["bad parameters", { tool_calls: [{ name: "forecast", parameters: { city: 7 } }] }],
    ["nothing", ""],
  ])("answers %s: no tool runs, the completion does", async (_name, answer) => {
    choose(answer);
    const { status, body, model } = await complete();
    expect([status, body.sources, runs]).toEqual([200, [], []]);
    expect(model.messages).toEqual(messages);
  });

  it("refuses: no tool runs, the completion does", async () => {
    upstream.reply(({ body }) => body?.model === "worker", failure(500, "overloaded"));
    const { status, body } = await complete();
    expect([status, body.sources]).toEqual([200, []]);
  });
});

describe("results", () => {
  it("stand in the last user message and at the top level of the whole answer", async () => {
    choose(forecast());
    const { body, model } = await complete();
    expect(body).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "It is sunny." } }],
      sources: [
        {
          source: { name: "weather/forecast" },
          document: ['{"city":"Berlin","sky":"</source>clear"}'],
          metadata: [{ source: "weather/forecast", parameters: { city: "Berlin" } }],
          tool_result: true,
        },
      ],
    });
    expect(runs).toEqual([{ name: "forecast", parameters: { city: "Berlin" }, userId: admin.id }]);
    expect(model.messages[0]).toEqual(messages[0]);
    expect(model.messages[1].content).toContain('<source id="1" name="weather/forecast">{"city":"Berlin"');
    expect(model.messages[1].content.match(/<\/source>/g)).toHaveLength(1);
    expect(model.messages[1].content.endsWith("What is the weather in Berlin?")).toBe(true);
    expect(Object.keys(model).toSorted()).toEqual(["messages", "model"]);
  });

  it("come first on a stream, which ends with [DONE]", async () => {
    choose(forecast());
    const { text: body } = await complete({ stream: true });
    const frames = body.trimEnd().split("\n\n");
    expect(JSON.parse(frames[0]!.slice(6))).toMatchObject({
      object: "chat.completion.chunk",
      choices: [],
      sources: [{ tool_result: true }],
    });
    expect(JSON.parse(frames[1]!.slice(6)).choices[0].delta).toEqual({ role: "assistant", content: "" });
    expect(frames.at(-1)).toBe("data: [DONE]");
  });

  it("are read by the published SDK, streamed and whole", async () => {
    choose(forecast());
    const request = { model: "alpha", messages, ...legacy, tool_ids: ["weather"] };
    const runner = sdk.chat.completions.stream(request as never);
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe("It is sunny.");
    choose(forecast());
    const whole = await sdk.chat.completions.create(request as never);
    expect(whole).toMatchObject({ choices: [{ finish_reason: "stop" }], sources: [{ tool_result: true }] });
  });

  it("of several calls run in order, parts of a message stay, failures are told without details", async () => {
    choose({ tool_calls: [{ name: "clock" }, { name: "broken" }, { name: "closed" }] });
    const image = { type: "image_url", image_url: { url: "data:," } };
    const { body, model } = await complete({
      tool_ids: ["toolbox.clock", "toolbox.broken", "toolbox.closed"],
      messages: [{ role: "user", content: [{ type: "text", text: "When?" }, image] }],
    });
    expect(body.sources.map(({ document }: { document: string[] }) => document[0])).toEqual([
      "It is noon.",
      "Error: the tool failed.",
      "Error: The archive is closed.",
    ]);
    const [words, picture] = model.messages[0].content;
    expect([words.text.endsWith("When?"), picture]).toEqual([true, image]);
  });

  it("are not part of the conversation that outlet filters see, and filters see the stream", async () => {
    choose(forecast());
    outlets.length = 0;
    const { text: body } = await complete({ stream: true, filter_ids: ["mark", "keep"] });
    expect(body).toContain('"sources":[');
    expect(body).toContain("<It>");
    await expect.poll(() => outlets.length).toBe(1);
    expect(outlets[0]?.messages).toMatchObject([...messages, { role: "assistant" }]);
  });
});

describe("who may", () => {
  it("is the caller: others' tools are refused like unknown ones, and no model is asked", async () => {
    const user = await app.user();
    for (const toolIds of [["toolbox.vault", "toolbox.clock"], ["unknown"], ["weather", "server:mcp:gone"]]) {
      for (const mode of [{}, { stream: true }, { params: {} }, { tools: [] }]) {
        const refused = await complete({ tool_ids: toolIds, ...mode }, user.token);
        expect([refused.status, refused.body.detail]).toEqual([404, "Tool not found"]);
        expect([refused.task, refused.model, runs]).toEqual([undefined, undefined, []]);
      }
    }
    // The administrator's choice of a task model works for members who may not use that model themselves.
    expect((await complete({ model: "worker" }, user.token)).status).toBe(404);
    choose({ tool_calls: [{ name: "vault" }] });
    const allowed = await complete({ tool_ids: ["toolbox.vault"] });
    expect(allowed.body.sources[0].document).toEqual(["The word is mellon."]);
    expect(runs).toMatchObject([{ name: "vault", userId: admin.id }]);
  });

  it("leaves the settings of task models to administrators", async () => {
    const user = await app.user();
    const { status, body } = await user.call("GET /api/v1/tasks/config");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      TASK_MODEL: "",
      TASK_MODEL_EXTERNAL: "worker",
      TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE: "",
    });
    const update = { token: user.token, body: { TASK_MODEL: "alpha" } };
    expect((await app.call("POST /api/v1/tasks/config/update", update)).status).toBe(403);
    const wrong = { token: admin.token, body: { TASK_MODEL: true, ENABLE_SIGNUP: false } };
    expect((await app.call("POST /api/v1/tasks/config/update", wrong)).status).toBe(422);
  });
});

describe("outside of legacy mode", () => {
  it("the tools of tool_ids are offered, and the model's calls come back unexecuted", async () => {
    const { body, model, task } = await complete({ params: {}, tool_ids: ["weather", "toolbox.clock"] });
    expect(model.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      "clock",
      "forecast",
      "warnings",
    ]);
    expect([task, body.sources, runs]).toEqual([undefined, undefined, []]);
  });

  it("a tools key keeps the server's tools away", async () => {
    const tools = [{ type: "function", function: { name: "mine" } }];
    const { body, model } = await complete({ tools });
    expect([model.tools, body.sources]).toEqual([tools, undefined]);
    expect((await complete({ tools: [] })).model.tools).toEqual([]);
  });

  it("a terminal is unavailable while nothing here knows terminals", async () => {
    for (const body of [{ terminal_id: "t" }, { terminal_id: "t", stream: true, params: {} }]) {
      const answer = await complete(body);
      expect([answer.status, answer.body.detail]).toEqual([503, "The terminal is not available."]);
      expect(answer.model).toBeUndefined();
    }
    expect((await complete({ terminal_id: "" })).status).toBe(200);
  });
});
