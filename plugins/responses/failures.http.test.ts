import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { errorFrame, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { fromUser } from "#test/support/wire-parts.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["m"] })));
  member = await app.user();
});

const sdk = () => new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: member.token, maxRetries: 0 });

describe("failures", () => {
  it.each([{ stream: true }, {}])("before the answer keep the provider's status: %j", async (how) => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 3, message: "Too fast" }));
    const answer = await member.call("POST /runtime/v1/responses", { model: "m", input: "Hi", ...how });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(answer.body.error.message).toBe("Too fast");
  });

  it.each([
    ["a frame that reports one", sse([...textChunks("Some text").slice(0, 3), errorFrame("Overheated")])],
    ["a reset", resetAfter(900, sse(textChunks("Some text that goes on and on and on and on and on")))],
  ])("midway are told by %s, with what had come", async (_what, script) => {
    upstream.reply("/chat/completions", script);
    const last = (
      await Array.fromAsync(await sdk().responses.create({ model: "m", input: "Hi", stream: true }))
    ).at(-1);
    expect(last).toMatchObject({
      type: "response.failed",
      response: {
        status: "failed",
        error: { code: "server_error", message: expect.stringMatching(/Overheated|closed the connection/) },
        output: [{ status: "incomplete", content: [{ text: expect.stringContaining("Some text") }] }],
      },
    });
  });

  it.each([
    ["input", {}],
    ["input", { input: 5 }],
    ["input[0].id", { input: [{ type: "item_reference", id: "x" }] }],
    ["input[0].type", { input: [{ type: "computer_call", id: "x" }] }],
    [
      "input[1].role",
      {
        input: [fromUser("a"), { role: "tool", content: "b" }],
      },
    ],
    ["input[0].content[0].type", { input: [fromUser([{ type: "video" }])] }],
    ["input[0].content[0].image_url", { input: [fromUser([{ type: "input_image", file_id: "x" }])] }],
    ["input[0].call_id", { input: [{ type: "function_call_output", output: "x" }] }],
    ["input[0].output[0]", { input: [{ type: "function_call_output", call_id: "c", output: [null] }] }],
    ["tool_choice", { input: "a", tools: [], tool_choice: { type: "allowed_tools", tools: [null] } }],
    ["tools[0].name", { input: "a", tools: [{ type: "function" }] }],
    ["temperature", { input: "a", temperature: "hot" }],
    ["background", { input: "a", background: true }],
  ])("of a request name %s", async (field, body) => {
    const answer = await member.call("POST /runtime/v1/responses", { model: "m", ...body });
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(field)]);
  });

  it("abort the upstream when the caller leaves", async () => {
    upstream.reply("/chat/completions", async (exchange) => {
      await exchange.start(200, { "content-type": "text/event-stream" });
      await exchange.write(`data: ${JSON.stringify(chunk({ content: "a" }))}\n\n`);
      await exchange.hold();
    });
    const arrived = upstream.nextRequest(({ body }) => body?.seed === 99);
    const asked = { model: "m", input: "Hi", stream: true as const, seed: 99 };
    const stream = await sdk().responses.create(asked);
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") {
        break;
      }
    }
    await expect((await arrived).aborted).resolves.toBeTypeOf("number");
  });
});
