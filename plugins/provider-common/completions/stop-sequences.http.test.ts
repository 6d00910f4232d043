import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { json, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { call } from "../responses/responses.fixture.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    useAppWithUpstream({ models: ["r"], connection: { access: "everyone", api_type: "responses" } }),
  ));
  member = await app.user();
});

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const said = (text: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const toResponse = (text: string) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "r",
  status: "completed",
  output: [said(text), call],
  usage,
});

/** The text in pieces of these many characters, then a call of a tool. */
function toEvents(text: string, size: number): string[] {
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  const made = [
    { type: "response.created", response: { ...toResponse(""), status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...said(""), content: [] } },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", output_index: 0, delta })),
    { type: "response.output_item.done", output_index: 0, item: said(text) },
    { type: "response.output_item.added", output_index: 1, item: { ...call, arguments: "" } },
    { type: "response.output_item.done", output_index: 1, item: call },
    { type: "response.completed", response: toResponse(text) },
  ];
  return made.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const ended = "tool_calls";
const cases: Record<string, [text: string, stop: string | string[], kept: string, reason: string]> = {
  "in the middle": ["one END two", "END", "one ", "stop"],
  "at the very beginning": ["ENDone", "END", "", "stop"],
  "at the very end": ["one END", ["END"], "one ", "stop"],
  "the earliest of several": ["a###b\nEND", ["END", "###"], "a", "stop"],
  "one of which begins like another": ["a ENDING", ["ENDED", "ENDI"], "a ", "stop"],
  "that repeats its beginning": ["aaab", "aab", "a", "stop"],
  "of several lines": ["one\n\nUser: two", "\n\nUser:", "one", "stop"],
  "which only begins": ["one EN", "END", "one EN", ended],
  "which is not there": ["one two", ["END"], "one two", ended],
  "which is empty": ["one two", [""], "one two", ended],
};

describe.each(["/api", "/compat"])("a chat completion below %s over a Responses connection", (base) => {
  const sdk = () => new OpenAI({ baseURL: app.url + base, apiKey: member.token, maxRetries: 0 });
  const ask = (stop: string | string[]) => ({
    model: "r",
    messages: [{ role: "user" as const, content: "Hi" }],
    stop,
  });

  describe.each(Object.entries(cases))("with a stop %s", (_name, [text, stop, kept, reason]) => {
    it.each([1, 2, 3, 100])("ends there when it streams, in pieces of %i characters", async (size) => {
      upstream.reply("/responses", sse(toEvents(text, size), { done: false }));
      const stream = await sdk().chat.completions.create({ ...ask(stop), stream: true });
      const choices = (await Array.fromAsync(stream)).flatMap((chunk) => chunk.choices);
      expect(choices.map(({ delta }) => delta.content ?? "").join("")).toBe(kept);
      expect(choices.flatMap(({ finish_reason: each }) => each ?? [])).toEqual([reason]);
      expect(choices.some(({ delta }) => delta.tool_calls)).toBe(reason === ended);
    });

    it("ends there when it comes whole", async () => {
      upstream.reply("/responses", json(toResponse(text)));
      const { choices, usage: cost } = await sdk().chat.completions.create(ask(stop));
      expect(choices[0]).toMatchObject({ finish_reason: reason, message: { content: kept } });
      expect(choices[0]?.message.tool_calls !== undefined).toBe(reason === ended);
      expect(cost).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
      expect(upstream.requests.at(-1)?.body).not.toHaveProperty("stop");
    });
  });

  it("ends there when a whole was asked for and a stream came", async () => {
    upstream.reply("/responses", sse(toEvents("one END two", 2), { done: false }));
    const { choices } = await sdk().chat.completions.create(ask("END"));
    expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "one " } });
  });
});

it.each([true, false])(
  "tells clients of the vendor's format which one it was, streamed: %s",
  async (stream) => {
    const script = stream
      ? sse(toEvents("one END two", 2), { done: false })
      : json(toResponse("one END two"));
    upstream.reply("/responses", script);
    const sdk = new Anthropic({ baseURL: `${app.url}/api`, apiKey: member.token, maxRetries: 0 });
    const asked = {
      model: "r",
      max_tokens: 9,
      messages: [{ role: "user" as const, content: "Hi" }],
      stop_sequences: ["###", "END"],
    };
    const message = await (stream ? sdk.messages.stream(asked).finalMessage() : sdk.messages.create(asked));
    expect(message).toMatchObject({
      content: [{ type: "text", text: "one " }],
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    });
  },
);

it("lets the upstream go when the answer was cut", async () => {
  const long = `word word END ${"word ".repeat(2000)}`;
  upstream.reply("/responses", sse(toEvents(long, 5), { done: false, every: 5 }));
  const asked = upstream.nextRequest(({ body }) => body?.max_output_tokens === 77);
  const sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: member.token, maxRetries: 0 });
  const stream = sdk.chat.completions.stream({
    model: "r",
    messages: [{ role: "user", content: "Hi" }],
    stop: "END",
    max_tokens: 77,
  });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "word word " } });
  expect(await (await asked).aborted).toBeGreaterThan(0);
});
