import { beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { json, text } from "#test/support/upstream-scripts.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  upstream.models = ["mock-model", "other"];
  app = await keep(
    startApp({
      env: {
        OPENAI_API_BASE_URL: upstream.url,
        OPENAI_API_KEY: "sk-upstream-key-9876",
        ENABLE_OPENAI_API_PASSTHROUGH: "true",
      },
    }),
  );
  admin = await app.admin();
  member = await app.user();
});
beforeEach(async () => {
  await configure({});
});

const model = "mock-model";
const messages = [{ role: "user" as const, content: "Hi" }];

/** Sets the one connection's settings, as an admin does. */
async function configure(config: Record<string, unknown>, urls = [upstream.url]) {
  const answer = await admin.call("POST /compat/config/update", {
    ENABLE_OPENAI_API: true,
    OPENAI_API_BASE_URLS: urls,
    OPENAI_API_KEYS: urls.map(() => "sk-upstream-key-9876"),
    OPENAI_API_CONFIGS: { 0: { access: "everyone", ...config } },
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

const sent = () => upstream.requests.findLast((request) => request.method !== "GET")!;

describe("the settings of connections", () => {
  it("show keys and secret headers masked, and take the masks back as unchanged", async () => {
    const headers = { Authorization: "Bearer secret-header-4321", "X-Plain": "{{USER_ID}}" };
    const view = await configure({ headers, key: "sk-own-key-11112222" });
    expect(view.OPENAI_API_KEYS).toEqual(["sk-…9876"]);
    expect(view.OPENAI_API_CONFIGS[0]).toMatchObject({
      key: "sk-…2222",
      headers: { Authorization: "sk-…4321", "X-Plain": "{{USER_ID}}" },
    });
    expect(JSON.stringify(view)).not.toMatch(/secret-header|upstream-key|own-key/);
    expect((await admin.call("POST /compat/config/update", view)).body).toEqual(view);
    upstream.always("/chat/completions", text("ok"));
    await member.call("POST /compat/chat/completions", { model, messages });
    expect(sent().headers["authorization"]).toBe("Bearer secret-header-4321");
    const moved = { ...view, OPENAI_API_BASE_URLS: ["http://127.0.0.1:9/v1"], OPENAI_API_CONFIGS: {} };
    expect((await admin.call("POST /compat/config/update", moved)).status).toBe(400);
  });

  it("pad keys, drop settings of unknown indexes, refuse what would not work", async () => {
    const body = {
      OPENAI_API_BASE_URLS: [upstream.url, `${upstream.url}/`],
      OPENAI_API_KEYS: ["a"],
      OPENAI_API_CONFIGS: { 1: { prefix_id: "b" }, 5: {} },
    };
    const saved = await admin.call("POST /compat/config/update", body);
    expect(saved.body).toMatchObject({
      OPENAI_API_BASE_URLS: [upstream.url, upstream.url],
      OPENAI_API_KEYS: ["sk-…", ""],
    });
    expect(saved.body.OPENAI_API_CONFIGS).toEqual({ 1: { prefix_id: "b" } });
    const wrong = { ...body, OPENAI_API_CONFIGS: { 0: { api_type: "assistants" } } };
    const refused = await admin.call("POST /compat/config/update", wrong);
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain("api_type");
    const twice = { ...body, OPENAI_API_CONFIGS: { 0: { prefix_id: "b" }, 1: { prefix_id: "b" } } };
    const taken = await admin.call("POST /compat/config/update", twice);
    expect([taken.status, taken.body.error.message]).toEqual([
      400,
      'Connection 1 cannot be used: Connection 0 has its prefix_id "b"; choose another one.',
    ]);
  });

  it("are for admins alone", async () => {
    for (const route of ["GET /compat/config", "POST /compat/config/update", "POST /compat/verify"]) {
      expect(
        (await app.call(route, { token: member.token, ...(route.startsWith("POST") && { body: {} }) }))
          .status,
      ).toBe(403);
    }
  });

  it("can be tried out before they are saved", async () => {
    const tried = await admin.call("POST /compat/verify", { url: upstream.url, key: "sk-…9876" });
    expect(tried.body.data.map((each: { id: string }) => each.id)).toEqual(["mock-model", "other"]);
    expect(upstream.requests.at(-1)!.headers["authorization"]).toBe("Bearer sk-upstream-key-9876");
    upstream.reply("/models", json({ error: { message: "no" } }, { status: 401 }));
    expect(await admin.call("POST /compat/verify", { url: upstream.url, key: "x" })).toMatchObject({
      status: 502,
      body: { error: { message: "The provider refused with status 401: no" } },
    });
  });
});
