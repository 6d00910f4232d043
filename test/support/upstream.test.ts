import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { OpenAI, RateLimitError } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chunk, reasoningChunks, textChunks, toolCallChunks } from "./upstream-chunks.ts";
import {
  closeAfter,
  endlessLine,
  gzipBomb,
  html,
  resetAfter,
  silence,
  slowHead,
  stallAfter,
} from "./upstream-faults.ts";
import {
  embeddings,
  errorFrame,
  failure,
  type Frame,
  json,
  jsonLines,
  oversizedChunk,
  rateLimited,
  raw,
  sse,
  text,
  tokens,
} from "./upstream-scripts.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let client: OpenAI;
const ask = { model: "mock-model", messages: [{ role: "user" as const, content: "Hi" }] };

beforeEach(async () => {
  upstream = await startUpstream();
  client = new OpenAI({ apiKey: "key", baseURL: upstream.url, maxRetries: 0 });
});
afterEach(() => upstream.close());

describe("what the published SDK reads", () => {
  it("lists the models that were set", async () => {
    upstream.models = ["a", { id: "b", owned_by: "x" }];
    const page = await client.models.list();
    expect(page.data.map((model) => model.id)).toEqual(["a", "b"]);
  });

  it("gets a whole reply and leaves a journal line", async () => {
    upstream.reply(text("Hello"));
    const reply = await client.chat.completions.create(ask);
    expect(reply.choices[0]?.message.content).toBe("Hello");
    const [request] = upstream.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/chat/completions", body: ask });
    expect(request?.headers.authorization).toBe("Bearer key");
    expect(request?.answeredAt).toBeGreaterThanOrEqual(request!.receivedAt);
    expect(request?.abortedAt).toBeUndefined();
  });

  it("streams text, and usage when it was asked for", async () => {
    upstream.always(text("Hello dear world"));
    const runner = client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    expect(await runner.finalContent()).toBe("Hello dear world");
    expect((await runner.totalUsage()).total_tokens).toBe(15);
    const plain = await read(`${upstream.url}/chat/completions`, { ...ask, stream: true });
    expect(plain).not.toContain("usage");
  });

  it("assembles interleaved tool calls", async () => {
    const calls = [
      { id: "c1", name: "weather", arguments: '{"city":"Rome"}' },
      { id: "c2", name: "time", arguments: '{"zone":"CET"}' },
    ];
    upstream.reply(sse(toolCallChunks(calls)));
    const message = await client.chat.completions.stream(ask).finalMessage();
    const seen = message.tool_calls?.map((call) => call.type === "function" && call.function);
    expect(seen).toMatchObject(calls.map(({ name, arguments: args }) => ({ name, arguments: args })));
  });

  it("gets the same embedding for the same text, as numbers and as base64", async () => {
    upstream.always("/embeddings", embeddings(16));
    const fromSdk = await client.embeddings.create({ model: "e", input: ["one", "two", "one"] });
    const numbers = await read(`${upstream.url}/embeddings`, { model: "e", input: "one" });
    const [first, second, third] = fromSdk.data.map((each) => each.embedding);
    expect(first).toEqual(third);
    expect(first).not.toEqual(second);
    JSON.parse(numbers).data[0].embedding.forEach((value: number, at: number) => {
      expect(first?.[at]).toBeCloseTo(value, 5);
    });
  });

  it("sees refusals with their status and retry headers, then the next answer in the queue", async () => {
    upstream.reply(rateLimited({ seconds: 3 }));
    upstream.reply(failure(500, "broken"));
    upstream.reply(text("fine"));
    const refused = await client.chat.completions.create(ask).catch((error) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused.headers.get("retry-after")).toBe("3");
    expect(refused.headers.get("retry-after-ms")).toBe("3000");
    await expect(client.chat.completions.create(ask)).rejects.toThrow("500 broken");
    expect((await client.chat.completions.create(ask)).choices[0]?.message.content).toBe("fine");
  });

  it("throws on an error frame midway", async () => {
    upstream.reply(sse([...textChunks("Hello").slice(0, 2), errorFrame("overloaded")]));
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow("overloaded");
  });

  it("survives bytes that come one by one and characters cut in two", async () => {
    const content = "Grüße an 世界 🌍";
    upstream.reply(sse(textChunks(content), { split: "bytes" }));
    upstream.reply(sse(textChunks(content), { split: "characters" }));
    expect(await client.chat.completions.stream(ask).finalContent()).toBe(content);
    expect(await client.chat.completions.stream(ask).finalContent()).toBe(content);
  });
});

describe("bytes and their timing", () => {
  it("really cuts inside a character", async () => {
    upstream.reply(sse(["data: é\n\n"], { split: "characters" }));
    const pieces: Buffer[] = [];
    const request = httpRequest(`${upstream.url}/chat/completions`, { method: "POST" }).end();
    const [response] = await once(request, "response");
    response.on("data", (piece: Buffer) => pieces.push(piece));
    await once(response, "end");
    expect(pieces[0]!.at(-1)).toBe(0xc3);
    expect([...pieces[1]!]).toEqual([0xa9, 10, 10]);
  });

  it("sends frames when the test feeds them", async () => {
    const feed = createFeed();
    upstream.reply(sse(feed.frames));
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    const reader = stream[Symbol.asyncIterator]();
    for (const content of ["a", "b"]) {
      void feed.push(chunk({ content }));
      expect((await reader.next()).value.choices[0].delta.content).toBe(content);
    }
    void feed.end();
    expect((await reader.next()).done).toBe(true);
  });

  it("paces tokens", async () => {
    upstream.reply(tokens(5, 20));
    const started = performance.now();
    const answer = await read(`${upstream.url}/chat/completions`, ask);
    expect(answer.match(/t\d /g)).toEqual(["t0 ", "t1 ", "t2 ", "t3 ", "t4 "]);
    expect(performance.now() - started).toBeGreaterThan(90);
  });

  it("writes raw bytes as they stand", async () => {
    upstream.reply(raw("HTTP/1.1 200 OK\r\nX-Odd: 1\r\n", 5, "Content-Length: 2\r\n\r\no", 5, "k"));
    const response = await post(upstream, ask);
    expect(response.headers.get("x-odd")).toBe("1");
    expect(await response.text()).toBe("ok");
  });

  it("answers several requests on one connection in their order", async () => {
    upstream.always("/a", slowHead(20, json(1)));
    upstream.always("/b", json(2));
    const socket = connect(Number(new URL(upstream.url).port), "127.0.0.1");
    socket.write(
      "GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    );
    let seen = "";
    for await (const piece of socket) {
      seen += piece;
      if (/1HTTP.*2$/s.test(seen)) {
        break;
      }
    }
    expect(upstream.requests.map((request) => [request.path, request.body])).toEqual([
      ["/a", undefined],
      ["/b", "{}"],
    ]);
  });
});

describe("faults", () => {
  it("resets, closes and stalls in the middle of a body", async () => {
    const reply = sse(textChunks("one two three four five"));
    upstream.reply(resetAfter(300, reply));
    await expect(read(`${upstream.url}/chat/completions`, ask)).rejects.toThrow("terminated");
    upstream.reply(closeAfter(300, reply));
    await expect(read(`${upstream.url}/chat/completions`, ask)).rejects.toThrow("terminated");
    upstream.reply(stallAfter(300, reply));
    const stalled = await post(upstream, ask);
    const reader = stalled.body!.getReader();
    let got = 0;
    for (; got < 200;) {
      got += (await reader.read()).value?.length ?? 0;
    }
    expect(got).toBeLessThan(300);
    await reader.cancel();
    await upstream.requests.at(-1)!.aborted;
  });

  it("tells when the caller leaves, before the head and midway", async () => {
    upstream.always(silence());
    const leave = new AbortController();
    const asked = post(upstream, ask, leave.signal).catch((error) => error.name);
    const request = await upstream.nextRequest();
    expect(upstream.openSockets()).toBe(1);
    leave.abort();
    expect(await asked).toBe("AbortError");
    expect(await request.aborted).toBe(request.abortedAt);
    await request.settled;
    await upstream.socketsAtMost(0);
  });

  it("swallows connections while it is a black hole, and answers afterwards", async () => {
    upstream.blackHole(true);
    const url = `${upstream.url}/models`;
    await expect(fetch(url, { signal: AbortSignal.timeout(100) })).rejects.toThrow("timeout");
    expect(upstream.requests).toHaveLength(0);
    upstream.blackHole(false);
    expect((await fetch(url)).status).toBe(200);
  });

  it("comes back on the port it had", async () => {
    const port = Number(new URL(upstream.url).port);
    await upstream.close();
    await expect(fetch(`${upstream.url}/models`)).rejects.toThrow("fetch failed");
    upstream = await startUpstream({ port });
    expect((await fetch(`${upstream.url}/models`)).status).toBe(200);
  });

  it("answers pages, broken frames, missing ends and wrong indexes", async () => {
    upstream.reply(html());
    expect((await post(upstream, ask)).headers.get("content-type")).toContain("text/html");
    upstream.reply(sse(['data: {"choices":[{\n\n', chunk({ content: "x" }, { index: 4 })], { done: false }));
    const answer = await read(`${upstream.url}/chat/completions`, ask);
    expect(answer).toMatch(/^data: \{"choices":\[\{\n\ndata: .*"index":4/);
    expect(answer).not.toContain("[DONE]");
    upstream.reply(sse(reasoningChunks(["hm"], ["yes"], { field: "reasoning" })));
    expect(await read(`${upstream.url}/chat/completions`, ask)).toContain('"delta":{"reasoning":"hm"}');
    upstream.reply(jsonLines([{ done: false }, { done: true }]));
    expect(await read(`${upstream.url}/chat/completions`, ask)).toBe('{"done":false}\n{"done":true}\n');
  });

  it("sends huge lines and bombs", async () => {
    upstream.reply(sse([oversizedChunk(10_000_000)]));
    expect((await read(`${upstream.url}/chat/completions`, ask)).length).toBeGreaterThan(10_000_000);
    upstream.reply(gzipBomb(20_000_000));
    const bomb = await post(upstream, ask);
    expect(Number(bomb.headers.get("content-length"))).toBeLessThan(50_000);
    expect((await bomb.bytes()).length).toBe(20_000_000);
    upstream.reply(endlessLine(1_000_000));
    const endless = await post(upstream, ask);
    let got = 0;
    for await (const piece of endless.body!) {
      expect(piece.includes(10)).toBe(false);
      got += piece.length;
      if (got > 1_000_000) {
        break;
      }
    }
    await upstream.requests.at(-1)!.aborted;
  });

  it("says so when no script answers", async () => {
    const response = await post(upstream, ask);
    expect(response.status).toBe(501);
    expect(await response.text()).toContain("POST /v1/chat/completions");
  });
});

function post(target: Upstream, value: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${target.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
    ...(signal && { signal }),
  });
}

async function read(url: string, value: unknown): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(value) });
  return response.text();
}

/** Frames that a test hands out one at a time. */
function createFeed() {
  const frames = new TransformStream<Frame, Frame>();
  const writer = frames.writable.getWriter();
  return { frames: frames.readable, push: (frame: Frame) => writer.write(frame), end: () => writer.close() };
}
