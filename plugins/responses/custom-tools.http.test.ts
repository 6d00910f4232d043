import OpenAI from "openai";
import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["m"], connection: {} })));
  admin = await app.admin();
});

const sdk = () => new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: admin.token, maxRetries: 0 });
const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))!.body;
const question = { model: "m", input: "Hi" };

it.each<[string, string, string]>([
  ["in the form that was asked for", '{"input":"*** Begin\\n+Grüße"}', "*** Begin\n+Grüße"],
  ["without it", "*** Begin", "*** Begin"],
])("tell calls of tools that take a text, made %s", async (_how, args, input) => {
  const tools = [{ type: "custom" as const, name: "patch" }];
  const call = { id: "a", name: "patch", arguments: args };
  upstream.always("/chat/completions", sse(toolCallChunks([call], { pieces: 3 }), { split: "bytes" }));
  const events = await Array.fromAsync(await sdk().responses.create({ ...question, tools, stream: true }));
  expect(events.map(({ type }) => type.replace(/^response\./, "")).slice(2)).toEqual([
    "output_item.added",
    "custom_tool_call_input.delta",
    "custom_tool_call_input.done",
    "output_item.done",
    "completed",
  ]);
  const { output } = await sdk()
    .responses.stream({ ...question, tools })
    .finalResponse();
  expect(output).toMatchObject([
    { type: "custom_tool_call", call_id: "a", name: "patch", input, status: "completed" },
  ]);
  expect(sent()["tools"]).toMatchObject([{ type: "function", function: { name: "patch" } }]);
});
