import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { setUp } from "#test/support/set-up.ts";

let runtime: Runtime;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  runtime = await keep(startRuntime());
  app = await keep(
    useApp({
      env: { OLLAMA_BASE_URL: runtime.origin, OLLAMA_API_CONFIGS: '{"0":{"access":"everyone"}}' },
    }),
  );
  member = await app.user();
});

const messages = [{ role: "user", content: "Hi" }];

describe("a request that does not say it is JSON", () => {
  const body = JSON.stringify({ model: "llama3:latest", messages, prompt: "Hi", input: "Hi", stream: false });
  it.each(
    ["api/generate", "api/chat", "api/embed", "v1/responses", "v1/embeddings/0"].flatMap((path) =>
      ["text/plain", "application/x-www-form-urlencoded", ""].map((type) => [path, type] as const),
    ),
  )("is refused by %s: %j", async (path, type) => {
    const { status, text } = await member.call(`POST /runtime/${path}`, new TextEncoder().encode(body), {
      "content-type": type,
    });
    expect([status, text]).toEqual([400, expect.stringContaining("Content-Type: must be application/json.")]);
  });

  it.each(["application/json; charset=utf-8", "Application/JSON"])("is none with %s", async (type) => {
    const headers = { "content-type": type };
    expect((await member.call("POST /runtime/api/chat", body, headers)).status).toBe(200);
  });
});
