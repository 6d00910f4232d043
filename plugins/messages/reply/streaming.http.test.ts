import { describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { closeAfter, html, resetAfter } from "#test/support/upstream-faults.ts";
import { errorFrame, type Frame, json, sse } from "#test/support/upstream-scripts.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { type Event, readEvents, streamed } from "../reader.fixture.ts";
import { replies } from "../replies.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["alpha"],
      connection: {},
      env: { AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "2" },
    }),
  ));
  admin = await app.admin();
});

const question = { model: "alpha", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
/** The message that a reply of these frames becomes. */
async function read(frames: readonly Frame[], options: Parameters<typeof sse>[1] = {}) {
  upstream.reply("/chat/completions", sse(frames, options));
  return (await streamed(app, admin.token, question)).message;
}

describe("a streamed reply becomes", () => {
  it.each(Object.entries(replies))("%s", async (_name, [frames, content, stop, more = {}]) => {
    expect(await read(frames)).toMatchObject({ content, stop_reason: stop, stop_sequence: null, ...more });
  });

  it.each(Object.entries(replies))("%s, byte by byte", async (_name, [frames, content, stop]) => {
    expect(await read(frames, { split: "bytes", done: false })).toMatchObject({ content, stop_reason: stop });
  });
});

it("leaves input tokens out of the closing event when nobody told them", async () => {
  upstream.reply("/chat/completions", sse(textChunks("Hi")));
  const { events } = await streamed(app, admin.token, question);
  expect(events.find(({ type }) => type === "message_delta")).toEqual({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 0 },
  });
});

it("names the sequence that stopped the model, where the upstream tells it", async () => {
  const [last] = textChunks("Hi", { finish: "stop" }).slice(-1);
  const choice = { ...last?.choices?.[0], stop_reason: "END" };
  upstream.reply("/chat/completions", sse([chunk({ content: "Hi" }), { ...last, choices: [choice] }]));
  const { message } = await streamed(app, admin.token, { ...question, stop_sequences: ["END"] });
  expect(message).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "END" });
});

it("is never compressed", async () => {
  upstream.reply("/chat/completions", sse(textChunks("Hi".repeat(2000))));
  const answer = await admin.call(
    "POST /api/message",
    { ...question, stream: true },
    { "accept-encoding": "gzip, br" },
  );
  expect(answer.headers.get("content-encoding")).toBeNull();
  expect(readEvents(answer.text).message.content[0].text).toContain("HiHi");
});

describe("an upstream that fails", () => {
  const begun = [chunk({ content: "Hel" }), chunk({ content: "lo" })];
  const faults: Record<string, [script: Script, type: string, message: RegExp]> = {
    "says so midway": [sse([...begun, errorFrame("Out of memory")]), "api_error", /^Out of memory$/],
    "says midway that it is overloaded": [
      sse([...begun, errorFrame("Busy", 503)]),
      "overloaded_error",
      /^Busy$/,
    ],
    "is reset midway": [
      resetAfter(400, sse([...begun, ...begun, ...begun])),
      "api_error",
      /closed the connection/,
    ],
    "is closed midway": [
      closeAfter(400, sse([...begun, ...begun, ...begun])),
      "api_error",
      /closed the connection/,
    ],
    "sends something else": [sse(["<p>Hello</p>\n\n"], { done: false }), "api_error", /not an event stream/],
  };
  it.each(Object.entries(faults))("that %s ends with an error event", async (_name, [script, type, text]) => {
    upstream.reply("/chat/completions", script);
    const { error, message } = await streamed(app, admin.token, question);
    expect(error).toEqual({ type: "error", error: { type, message: expect.stringMatching(text) } });
    expect(message.stop_reason).toBeNull();
  });

  it("keeps what came before it broke", async () => {
    upstream.reply("/chat/completions", sse([...begun, errorFrame("Out of memory")]));
    const { events } = await streamed(app, admin.token, question);
    const texts = events.filter(({ type }) => type === "content_block_delta").map(({ delta }) => delta.text);
    expect(texts.join("")).toBe("Hello");
  });

  it("counts as complete once it said how the reply ended", async () => {
    const frames = textChunks("Hello");
    const bytes = frames.reduce((sum, frame) => sum + JSON.stringify(frame).length + 20, 0);
    upstream.reply("/chat/completions", resetAfter(bytes, sse([...frames, ": x\n".repeat(200)])));
    const { message, error } = await streamed(app, admin.token, question);
    expect([message.content[0].text, message.stop_reason, error]).toEqual(["Hello", "end_turn", undefined]);
  });

  it("that answers with a page is told before the stream begins", async () => {
    upstream.reply("/chat/completions", html());
    const answer = await admin.call("POST /api/message", { ...question, stream: true });
    expect([answer.status, answer.body]).toEqual([
      502,
      { type: "error", error: { type: "api_error", message: expect.stringContaining("web page") } },
    ]);
  });
});

describe("tokens of the prompt", () => {
  const first = (events: readonly Event[]) => events[0]?.["message"].usage;

  it("stand in the first event where the upstream counts them", async () => {
    const counting = await startUpstream();
    counting.models = ["counted"];
    const own = await startApp({ env: { OPENAI_API_BASE_URLS: counting.url } });
    try {
      counting.always("/messages/count_tokens", json({ input_tokens: 42 }));
      counting.reply("/chat/completions", sse(textChunks("Hi")));
      const { token } = await own.admin();
      const { events, message } = await streamed(own, token, { ...question, model: "counted" });
      expect(first(events)).toEqual({ input_tokens: 42, output_tokens: 0 });
      expect(message.usage.input_tokens).toBe(42);
    } finally {
      await own.close();
      await counting.close();
    }
  });

  it("are asked for once in a while only where the upstream cannot count, and no reply fails for it", async () => {
    const before = upstream.requests.length;
    for (const text of ["one", "two"]) {
      upstream.reply("/chat/completions", sse(textChunks(text)));
      const { events } = await streamed(app, admin.token, question);
      expect(first(events)).toEqual({ output_tokens: 0 });
    }
    const asked = upstream.requests.slice(before).map(({ path }) => path);
    expect(asked.filter((path) => path.endsWith("/count_tokens"))).toEqual([]);
  });
});
