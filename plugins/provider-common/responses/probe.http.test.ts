import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { completion, textChunks } from "#test/support/upstream-chunks.ts";
import { body, failure, json, rateLimited, sse, text } from "#test/support/upstream-scripts.ts";
import { respond, said, thought } from "#test/support/upstream-responses.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;

/** A connection that nobody has asked yet. */
async function connect(config: object = {}) {
  const body = {
    OPENAI_API_BASE_URLS: [upstream.url],
    OPENAI_API_KEYS: [""],
    OPENAI_API_CONFIGS: { 0: config },
  };
  await admin.call("POST /compat/config/update", body);
}

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});
afterAll(() => app.close());
beforeEach(async () => {
  upstream = await startUpstream();
  upstream.models = ["r"];
});
afterEach(() => upstream.close());

const sdk = () => new OpenAI({ baseURL: `${app.url}/compat`, apiKey: admin.token, maxRetries: 0 });
const ask = (stream: boolean) =>
  stream
    ? sdk().responses.stream({ model: "r", input: "Hi" }).finalResponse()
    : sdk().responses.create({ model: "r", input: "Hi" });
const asked = () =>
  upstream.requests.filter(({ method }) => method === "POST").map(({ path }) => path.replace("/v1", ""));

/** What servers say at a path that they do not have. */
const unknown: Record<string, Script> = {
  "a plain 404": body("404 page not found", { status: 404, headers: { "content-type": "text/plain" } }),
  "404 with words": failure(404, "Not Found"),
  "405": failure(405, "Method Not Allowed"),
  "501": failure(501, "Not implemented"),
  "200 and a complaint": json({ error: "Unexpected endpoint or method. (POST /v1/responses)" }),
  "a chat completion": json(completion("Who asked?")),
  "a stream of chunks": sse(textChunks("Who asked?")),
  "a stream of nothing": sse([], { done: false }),
};

describe.each([true, false])("streamed: %s", (isStream) => {
  it.each(Object.entries(unknown))(
    "an upstream that answers %s gets chat completions, and is not asked again",
    async (_name, script) => {
      await connect();
      upstream.always("/responses", script);
      upstream.always("/chat/completions", text("Hello"));
      expect((await ask(isStream)).output_text).toBe("Hello");
      expect((await ask(isStream)).output_text).toBe("Hello");
      expect(asked()).toEqual(["/responses", "/chat/completions", "/chat/completions"]);
    },
  );

  it("an upstream that knows the format gets requests as they are", async () => {
    await connect();
    upstream.always("/responses", respond([thought("Hm"), said("Hello")], { split: "bytes" }));
    expect((await ask(isStream)).id).toBe("resp_1");
    expect((await ask(isStream)).id).toBe("resp_1");
    expect(asked()).toEqual(["/responses", "/responses"]);
  });

  it.each(["chat", "responses"])("a connection of the type %s is not tried out", async (type) => {
    await connect({ api_type: type });
    upstream.always("/responses", failure(404, "Not Found"));
    upstream.always("/chat/completions", text("Hello"));
    const answer = await ask(isStream).then(
      ({ output_text: words }) => words,
      ({ status }: { status: number }) => status,
    );
    expect(answer).toBe(type === "chat" ? "Hello" : 404);
    expect(asked()).toEqual([type === "chat" ? "/chat/completions" : "/responses"]);
  });

  it.each([
    ["says that it has no such model", failure(404, "model_not_found"), 404],
    ["is asked too often", rateLimited(), 429],
    ["refuses the request", failure(400, "No"), 400],
    ["breaks", failure(500, "Oh"), 500],
  ])("an upstream that %s is believed", async (_what, script, status) => {
    await connect();
    upstream.always("/responses", script);
    await expect(ask(isStream)).rejects.toMatchObject({ status });
    expect(asked()).toEqual(["/responses"]);
  });
});

it("counts one call, whatever was tried", async () => {
  await connect({ access: "everyone" });
  upstream.always("/responses", failure(404, "Not Found"));
  upstream.always("/chat/completions", text("Hello"));
  const user = await app.user();
  await user.call("POST /compat/responses", { model: "r", input: "Hi" });
  const rows = async () =>
    (await admin.call(`GET /api/v1/analytics/messages?user_id=${user.id}`)).body as object[];
  await expect.poll(async () => (await rows()).length, { timeout: 5000 }).toBe(1);
  expect(await rows()).toMatchObject([{ wire: "chat", outcome: "completed", usage: { output_tokens: 5 } }]);
});
