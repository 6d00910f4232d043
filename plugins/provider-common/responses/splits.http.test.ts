import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { streams } from "./format.fixture.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["m"], connection: { api_type: "chat" } })));
  admin = await app.admin();
});

const ask = (body: object) => admin.call("POST /compat/responses", { model: "m", input: "Hi", ...body });

describe("the published client's stream helper", () => {
  const read = async (bytes: Buffer, cuts: readonly number[]) => {
    const ends = [...cuts, bytes.length];
    const pieces = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
    const fetch = () => Promise.resolve(toAnswer(pieces));
    const client = new OpenAI({ baseURL: app.url, apiKey: "none", maxRetries: 0, fetch });
    return (await client.responses.stream({ model: "m", input: "Hi" }).finalResponse()).output;
  };

  it.each(Object.entries(streams))(
    "puts %s together of pieces of any size",
    async (_name, [frames, { output }]) => {
      upstream.reply("/chat/completions", sse(frames));
      const bytes = Buffer.from((await ask({ stream: true })).text);
      for (const size of [1, 2, 3, 7, 64, 1000]) {
        const cuts = Array.from({ length: Math.floor(bytes.length / size) }, (_, n) => (n + 1) * size);
        expect(await read(bytes, cuts), `pieces of ${size}`).toMatchObject(output);
      }
    },
  );

  it("reads a text wherever it is cut", { timeout: 150_000 }, async () => {
    upstream.reply("/chat/completions", sse(textChunks("🌍")));
    const bytes = Buffer.from((await ask({ stream: true })).text);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(await read(bytes, [cut]), `cut at ${cut}`).toMatchObject([{ content: [{ text: "🌍" }] }]);
    }
  });
});

function toAnswer(pieces: readonly Buffer[]): Response {
  const body = new ReadableStream({
    start(controller) {
      pieces.forEach((piece) => controller.enqueue(piece));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
