import { describe, expect, it } from "vitest";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { body, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

// Whatever an upstream leaves out at its end: a stream of the common format ends with [DONE].

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({ connection: {}, env: { CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE: "" } }),
  ));
  admin = await app.admin();
});

const path = "/chat/completions";
const done = "data: [DONE]\n\n";

describe.each(["/api", "/compat"])("%s/chat/completions", (base) => {
  const ask = () =>
    admin.call(`POST ${base}${path}`, {
      model: "alpha",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    });
  const frames = textChunks("Hello there").map((each) => `data: ${JSON.stringify(each)}\n\n`);

  it("adds the end that an upstream leaves out", async () => {
    upstream.reply(path, sse(frames, { done: false }));
    expect((await ask()).text).toBe(frames.join("") + done);
  });

  it("adds the blank line that is missing as well", async () => {
    upstream.reply(path, sse(["data: {}"], { done: false }));
    expect((await ask()).text).toBe(`data: {}\n\n${done}`);
  });

  it("adds nothing to a stream that ends itself, however it is cut", async () => {
    upstream.reply(path, sse([...frames, "data:[DONE]\n\n: bye\n\n"], { done: false, split: "bytes" }));
    expect((await ask()).text).toBe(`${frames.join("")}data:[DONE]\n\n: bye\n\n`);
  });

  it("passes lines that end in CR on as they come", async () => {
    const text = frames.map((each) => each.replaceAll("\n", "\r")).join("");
    upstream.reply(path, sse([text], { done: false }));
    expect((await ask()).text).toBe(text + done);
  });

  it("leaves a whole answer alone", async () => {
    upstream.reply(path, body('{"choices":[]}', { headers: { "content-type": "application/json" } }));
    expect((await ask()).text).not.toContain("[DONE]\n\ndata: [DONE]");
  });
});
