import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { errorFrame, type Frame, json, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { answers } from "../answers.fixture.ts";
import { streamed } from "../reader.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["alpha"], connection: {} })));
  admin = await app.admin();
  for (const [id, streams] of [
    ["always", true],
    ["never", false],
  ] as const) {
    const record = { id, base_model_id: "alpha", name: id, meta: {}, params: { stream_response: streams } };
    await admin.call("POST /api/v1/models/create", record);
  }
});

const question = (model: string) => ({
  model,
  max_tokens: 9,
  stop_sequences: ["END"],
  messages: [{ role: "user", content: "Hi" }],
});
const ask = (model: string) => admin.call("POST /api/message", { ...question(model), stream: false });

// Events hand the arguments of calls over as they come.
const told = Object.entries(answers).filter(([what]) => what !== "a call whose arguments are no JSON");

it.each(told)("%s of a model that never streams is told in events", async (_what, answer) => {
  const [completion, content, stop] = answer;
  upstream.reply("/chat/completions", json(completion));
  const { message } = await streamed(app, admin.token, question("never"));
  expect(upstream.requests.findLast(({ path }) => path.endsWith("/completions"))?.body.stream).toBe(false);
  expect(message).toMatchObject({ model: "never", content, stop_reason: stop });
});

const weather = { id: "call_1", name: "weather", arguments: '{"city":"Łódź"}' };
const usage = { prompt_tokens: 10, completion_tokens: 5 };
const text = { type: "text", text: "Hello" };
const wholes: [what: string, frames: Frame[], expected: object][] = [
  [
    "a text",
    textChunks(["Hel", "lo"], { usage }),
    { content: [text], stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  [
    "a call",
    toolCallChunks([weather], { pieces: 3 }),
    {
      content: [{ type: "tool_use", id: "call_1", name: "weather", input: { city: "Łódź" } }],
      stop_reason: "tool_use",
    },
  ],
  [
    "a signed thought",
    [
      chunk({ reasoning_content: "Hm" }),
      chunk({ reasoning_details: [{ type: "reasoning.text", signature: "sig" }] }),
      chunk({ content: "Hello" }, { finish: "length" }),
    ],
    { content: [{ type: "thinking", thinking: "Hm", signature: "sig" }, text], stop_reason: "max_tokens" },
  ],
  [
    "a refusal",
    [chunk({ refusal: "Hel" }), chunk({ refusal: "lo" }, { finish: "stop" })],
    { content: [text] },
  ],
  [
    "a text that a sequence stopped",
    [
      chunk({ content: "Hello" }),
      { choices: [{ index: 0, delta: {}, finish_reason: "stop", stop_reason: "END" }] },
    ],
    { content: [text], stop_reason: "stop_sequence", stop_sequence: "END" },
  ],
];

it.each(wholes)("%s of a model that always streams is told as a whole", async (_what, frames, expected) => {
  upstream.reply("/chat/completions", sse(frames));
  const answer = await ask("always");
  expect(upstream.requests.at(-1)?.body.stream).toBe(true);
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect([answer.status, answer.body]).toMatchObject([
    200,
    { type: "message", model: "always", ...expected },
  ]);
});

it("a stream that breaks becomes an error where a whole was asked for", async () => {
  upstream.reply("/chat/completions", sse([chunk({ content: "Hel" }), errorFrame("Out of memory")]));
  const answer = await ask("always");
  expect([answer.status, answer.body.type, answer.body.error.message]).toEqual([
    expect.any(Number),
    "error",
    "Out of memory",
  ]);
  expect(answer.status).toBeGreaterThanOrEqual(500);
});
