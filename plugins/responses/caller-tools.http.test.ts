import OpenAI from "openai";
import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { toFlatName } from "./caller-tools.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let sdk: OpenAI;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["m"], connection: {} })));
  admin = await app.admin();
  sdk = new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: admin.token, maxRetries: 0 });
});

const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))!.body;
const grind = { type: "function" as const, name: "grind", parameters: { type: "object" }, strict: null };
const mill = { type: "namespace" as const, name: "mill", description: "Of the mill", tools: [grind] };
const call = { id: "a", name: "mill__grind", arguments: '{"grain":"rye"}' };

it("offers tools of groups under names of their own, and tells their calls with the group", async () => {
  upstream.reply("/chat/completions", sse(toolCallChunks([call])));
  const stream = sdk.responses.stream({
    model: "m",
    input: "Hi",
    tools: [grind, mill],
    tool_choice: { type: "function", name: "grind" },
  });
  const { output } = await stream.finalResponse();
  expect(output).toMatchObject([
    { type: "function_call", call_id: "a", name: "grind", namespace: "mill", arguments: '{"grain":"rye"}' },
  ]);
  const names = sent().tools.map((tool: { function: object }) => tool.function);
  expect(names).toMatchObject([{ name: "grind" }, { name: "mill__grind" }]);
});

it("gives calls of groups back to models under the name they know", async () => {
  upstream.reply("/chat/completions", text("Flour."));
  await sdk.responses.create({
    model: "m",
    tools: [mill],
    input: [
      { type: "function_call", call_id: "a", name: "grind", namespace: "mill", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: "flour" },
    ],
  });
  expect(sent().messages).toMatchObject([
    { role: "assistant", tool_calls: [{ id: "a", function: { name: "mill__grind" } }] },
    { role: "tool", tool_call_id: "a", content: "flour" },
  ]);
});

it("offers tools that an item brings along", async () => {
  upstream.reply("/chat/completions", sse(toolCallChunks([call])));
  const { output } = await sdk.responses.create({
    model: "m",
    input: [
      { type: "additional_tools", role: "developer", tools: [mill, { type: "web_search" }] },
      { role: "user", content: "Hi" },
    ],
  });
  expect(output).toMatchObject([{ type: "function_call", name: "grind", namespace: "mill" }]);
  expect(sent().messages).toEqual([{ role: "user", content: "Hi" }]);
  expect(sent().tools).toHaveLength(1);
});

it("keeps what a client says about itself from upstreams", async () => {
  upstream.reply("/chat/completions", text("Hi"));
  const body = { model: "m", input: "Hi", client_metadata: { thread_id: "t" } };
  const answer = await admin.call("POST /runtime/v1/responses", body);
  expect([answer.status, sent().client_metadata]).toEqual([200, undefined]);
});

it("shortens names that upstreams would refuse, each in its own way", () => {
  const names = ["a", "b"].map((end) => toFlatName("x".repeat(80) + end, "mill"));
  expect(names.map((name) => name.length)).toEqual([64, 64]);
  expect(names[0]).not.toBe(names[1]);
});
