import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import {
  endlessLine,
  gzipBomb,
  html,
  resetAfter,
  silence,
  stallAfter,
} from "#test/support/upstream-faults.ts";
import { body, errorFrame, json, oversizedChunk, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import { caller, openProvider, readText, type Setup } from "../testing.ts";

let upstream: Upstream;
let opened: ReturnType<typeof openProvider>[] = [];

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  await upstream.close();
});

function open(setup: Partial<Setup> = {}) {
  const made = openProvider({ urls: [upstream.url], keys: ["sk-secret-123456"], ...setup });
  opened.push(made);
  return made;
}

const model = "mock-model";

describe("refusals and faults", () => {
  const fail = async (request = {}, setup: Partial<Setup> = {}) => {
    const made = open(setup);
    try {
      const answer = await made.ask({ model, stream: true, ...request });
      return { made, ...(await readText(answer)) };
    } catch (error) {
      return { made, text: "", error };
    }
  };

  it.each([true, false])("keeps status, body and retry headers of a refusal (stream %s)", async (stream) => {
    upstream.always("/chat/completions", rateLimited({ seconds: 7 }));
    const { error } = await fail({ stream });
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ status: 429, headers: { "retry-after": "7", "retry-after-ms": "7000" } });
    expect(JSON.parse((error as ProviderError).body).error.message).toBe("Rate limit reached");
  });

  it("takes the key out of a refusal that quotes it", async () => {
    upstream.always(
      "/chat/completions",
      json({ error: { message: "bad key sk-secret-123456" } }, { status: 401 }),
    );
    const { error } = await fail();
    expect((error as ProviderError).body).toBe('{"error":{"message":"bad key sk-…3456"}}');
  });

  it.each([
    ["a page with status 200", html(), {}],
    ["a page, not streamed", html(), { stream: false }],
    [
      "broken JSON",
      body('{"choices":[', { headers: { "content-type": "application/json" } }),
      { stream: false },
    ],
    ["JSON of another kind", json({ hello: 1 }), { stream: false }],
    ["a redirect", body("", { status: 302, headers: { location: "http://example.test/" } }), {}],
    ["a frame without end", endlessLine(17_000_000), {}],
    ["a bomb", gzipBomb(80_000_000), { stream: false }],
    ["a bomb, streamed", gzipBomb(80_000_000, "text/event-stream"), {}],
  ])("is an upstream error: %s", async (_name, script, request) => {
    upstream.always("/chat/completions", script);
    const { error } = await fail(request);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: "upstream" });
  });

  it("keeps what came before a reset, an error frame or too long a silence", async () => {
    const reply = sse(textChunks("one two three four five"));
    upstream.reply(resetAfter(700, reply));
    expect(await fail()).toMatchObject({ text: expect.stringMatching(/^one/), error: { code: "upstream" } });
    upstream.reply(sse([...textChunks("one two").slice(0, 3), errorFrame("overloaded", 529)]));
    expect(await fail()).toMatchObject({ text: "one two", error: { status: 529 } });
    upstream.reply(stallAfter(700, reply));
    expect(await fail({}, { idleSeconds: 1 })).toMatchObject({
      text: expect.stringMatching(/^one/),
      error: { code: "timeout" },
    });
  });

  it("is a timeout when nothing comes at all, for streams and within the total time", async () => {
    upstream.always("/chat/completions", silence());
    expect(await fail({}, { idleSeconds: 1 })).toMatchObject({ error: { code: "timeout" } });
    expect(await fail({ stream: false }, { totalSeconds: 1 })).toMatchObject({ error: { code: "timeout" } });
  });

  it("drops chunks beyond the largest size and goes on", async () => {
    const [role, first, ...rest] = textChunks("one two");
    upstream.always("/chat/completions", sse([role!, first!, oversizedChunk(5000), ...rest]));
    const { text: got, error, made } = await fail({}, { config: { maxChunkSize: 1000 } });
    expect([got, error]).toEqual(["one two", undefined]);
    expect(made.lines.join("")).toContain("oversized");
    upstream.always("/chat/completions", sse([role!, oversizedChunk(5000), ...rest]));
    expect((await fail({}, { config: { maxChunkSize: -1 } })).text.length).toBeGreaterThan(5000);
  });

  it("aborts the upstream when the caller leaves, before the head and midway", async () => {
    const made = open();
    upstream.always("/chat/completions", silence());
    const leave = new AbortController();
    const asked = made.ask({ model, stream: true }, { signal: leave.signal }).catch((error) => error.name);
    const request = await upstream.nextRequest("/chat/completions");
    leave.abort();
    expect(await asked).toBe("AbortError");
    await request.aborted;
    upstream.always("/chat/completions", stallAfter(700, sse(textChunks("one two three four"))));
    const answer = await made.ask({ model, stream: true });
    for await (const _batch of answer.kind === "stream" ? answer.stream.chunks() : []) {
      break;
    }
    await (
      await upstream.nextRequest("/chat/completions")
    ).aborted;
  });

  it("keeps the connection for the next call after a whole stream", async () => {
    upstream.always("/chat/completions", sse(textChunks("one")));
    const made = open();
    for (let n = 0; n < 5; n++) {
      expect(await readText(await made.ask({ model, stream: true }))).toMatchObject({
        text: "one",
        error: undefined,
      });
    }
    expect(upstream.openSockets()).toBeLessThanOrEqual(2);
  });

  it("says so when the connections are switched off or the model is gone", async () => {
    const made = open();
    const [offered] = await made.provider.models();
    const call = {
      request: { model, messages: [] },
      model: offered!,
      principal: caller,
      signal: new AbortController().signal,
    };
    made.settings.enabled = false;
    expect(await made.provider.models()).toEqual([]);
    await expect(made.provider.complete(call)).rejects.toMatchObject({ code: "unavailable" });
    made.settings.enabled = true;
    made.settings.baseUrls = [];
    await expect(made.provider.complete(call)).rejects.toMatchObject({ code: "not_found" });
  });
});
