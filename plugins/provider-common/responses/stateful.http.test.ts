import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { response } from "./responses.fixture.ts";

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["r"];
  upstream.always("/responses", json(response));
});
afterAll(() => upstream.close());

const messages = [{ role: "user", content: "Hi" }];
/** What would have the provider remember something or answer later. */
const remembering = {
  previous_response_id: "resp_0",
  conversation: "conv_0",
  prompt: { id: "pmpt_0" },
  background: true,
  store: true,
};

describe.each([false, true])("chat completions over a Responses connection, stateful: %s", (isStateful) => {
  let app: App;
  let admin: TestUser;

  beforeAll(async () => {
    app = await startApp({
      env: {
        ENABLE_RESPONSES_API_STATEFUL: String(isStateful),
        OPENAI_API_BASE_URLS: `${upstream.url};${upstream.url}/`,
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { api_type: "responses" },
          1: {
            api_type: "responses",
            prefix_id: "kept",
            extra_params: { store: true, prompt: { id: "own" } },
          },
        }),
      },
    });
    admin = await app.admin();
  });
  afterAll(() => app.close());

  it.each(["/api", "/compat"])("let no caller have the provider remember, below %s", async (base) => {
    const previous = isStateful ? { previous_response_id: "resp_0" } : {};
    const input = [{ type: "message", ...messages[0] }];
    for (const [model, own] of [
      ["r", { store: false }],
      ["kept.r", { store: true, prompt: { id: "own" } }],
    ] as const) {
      const seen = upstream.nextRequest("/responses");
      const body = { model, messages, ...remembering };
      expect(await admin.call(`POST ${base}/chat/completions`, body)).toMatchObject({
        status: 200,
      });
      expect((await seen).body).toEqual({ model: "r", input, ...own, ...previous });
    }
  });
});
