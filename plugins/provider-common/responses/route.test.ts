import OpenAI from "openai";
import { expect, it } from "vitest";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { json, sse } from "#test/support/upstream-scripts.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["m"],
      connections: [{ access: "everyone" }, { access: "everyone", prefix_id: "p" }],
    }),
  ));
  member = await app.user();
});

const response = {
  id: "resp_1",
  object: "response",
  model: "m",
  status: "completed",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello", annotations: [] }],
    },
  ],
};

const client = () => new OpenAI({ baseURL: `${app.url}/compat`, apiKey: member.token, maxRetries: 0 });
const sent = () => upstream.requests.findLast((request) => request.method === "POST")!;

it.each(["m", "p.m"])("passes %s on and keeps its public id", async (model) => {
  upstream.always("/responses", json(response));
  const answer = await client().responses.create({ model, input: "Hi", previous_response_id: "resp_0" });
  expect(answer).toMatchObject({ model, output_text: "Hello" });
  expect(sent().path).toMatch(/\/v1\/responses$/);
  // Without ENABLE_RESPONSES_API_STATEFUL nothing is said of earlier responses.
  expect(sent().body).toEqual({ model: "m", input: "Hi" });
});

it.each(["m", "p.m"])("streams %s with all of its events", async (model) => {
  const events = [
    { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress" } },
    { type: "response.output_text.delta", sequence_number: 1, delta: "Grüße", item_id: "msg_1" },
    { type: "response.completed", sequence_number: 2, response },
  ];
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  upstream.always("/responses", sse(frames, { done: false }));
  const got = await Array.fromAsync(await client().responses.create({ model, input: "Hi", stream: true }));
  const named = (event: object) =>
    "response" in event ? { ...event, response: { ...(event.response as object), model } } : event;
  expect(got).toEqual(events.map(named));
});

it("does not know models of others", async () => {
  expect((await member.call("POST /compat/responses", { model: "x", input: "Hi" })).status).toBe(404);
});
