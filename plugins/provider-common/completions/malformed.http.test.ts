import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = ["m"];
  upstream.always("/chat/completions", text("ok"));
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: [upstream.url, `${upstream.url}/`, upstream.origin].join(";"),
        OPENAI_API_CONFIGS: JSON.stringify({
          1: { api_type: "responses", prefix_id: "responses" },
          2: { provider: "anthropic", prefix_id: "vendor" },
        }),
      },
    }),
  );
  admin = await app.admin();
});

const user = { role: "user", content: "Hi" };
const calling = (calls: unknown) => ({ messages: [user, { role: "assistant", tool_calls: calls }] });
const posts = () => upstream.requests.filter(({ method }) => method === "POST");

describe.each(["/api", "/compat"])("chat completions below %s", (base) => {
  const ask = (model: string, body: object) =>
    admin.call(`POST ${base}/chat/completions`, { model, messages: [user], ...body });

  it.each<[string, string, object]>([
    ["calls that are no list", "messages.1.tool_calls", calling("x")],
    ["a call that is nothing", "messages.1.tool_calls.0", calling([null])],
    ["a call whose function is a text", "messages.1.tool_calls.0.function", calling([{ function: "f" }])],
    ["tools that are no list", "tools", { tools: "x" }],
    ["a tool that is nothing", "tools.0", { tools: [null] }],
    ["a tool whose function is a text", "tools.0.function", { tools: [{ function: "f" }] }],
    ["a stop that is a number", "stop", { stop: 5 }],
    ["stops that are numbers", "stop", { stop: [5] }],
  ])("refuse %s, with the place", async (_name, place, body) => {
    const before = posts().length;
    for (const model of ["m", "responses.m", "vendor.m"]) {
      const answer = await ask(model, body);
      expect([model, answer.status, answer.text]).toEqual([model, 400, expect.stringContaining(place)]);
    }
    expect(posts()).toHaveLength(before);
  });

  it("refuse calls without a function where the vendor's format has no place for them", async () => {
    expect(await ask("vendor.m", calling([{ id: "x" }]))).toMatchObject({
      status: 400,
      text: expect.stringContaining("messages.1.tool_calls.0.function"),
    });
  });

  it("leave to the vendor what a tool without a function is", async () => {
    const seen = upstream.nextRequest("/v1/messages");
    await ask("vendor.m", { tools: [{ type: "web_search_20250305", name: "web_search", function: null }] });
    expect((await seen).body.tools).toEqual([expect.objectContaining({ name: "web_search" })]);
  });

  it("relay what plain upstreams may take", async () => {
    const body = {
      messages: [
        user,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "a", type: "custom", custom: { name: "f", input: "x" } },
            { id: "b", type: "function", function: { name: "f", arguments: { x: 1 } }, index: 0 },
            { id: "c", function: null },
          ],
        },
        { role: "assistant", content: "", tool_calls: null },
        { role: "assistant", content: "", tool_calls: [] },
      ],
      tools: [
        { type: "custom", custom: { name: "f" } },
        { type: "web_search", function: null },
      ],
      stop: ["x", "y"],
      top_k: 5,
    };
    expect(await ask("m", body)).toMatchObject({ status: 200 });
    expect(posts().at(-1)?.body).toEqual({ model: "m", ...body });
  });
});
