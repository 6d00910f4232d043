import { afterEach, describe, expect, it } from "vitest";
import { upload } from "#plugins/files/client.fixture.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { unknownId } from "#test/support/probe.ts";
import { setUp } from "#test/support/set-up.ts";
import { json, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

const prompt = "the owner's secret prompt";
const key = "upstream-key-that-nobody-may-see-0123456789";
const messages = [{ role: "user", content: "Hi" }];
let upstream: Upstream;
let app: App;
let admin: TestUser;
let user: TestUser;
let victim: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["open", "closed"],
      connection: {
        headers: {
          "x-user": "{{USER_NAME}}/{{USER_AGENT}}/{{CHAT_ID}}",
          "x-literal": "${PATH} {{OPENID_ACCESS_TOKEN}}",
        },
      },
      env: {
        OPENAI_API_KEYS: key,
        ENABLE_OPENAI_API_PASSTHROUGH: "true",
        ENABLE_FORWARD_USER_INFO_HEADERS: "true",
      },
    }),
  ));
  [admin, user, victim] = [await app.admin(), await app.user(), await app.user()];
  await openModel("open");
  await openModel("shared", {
    base: "open",
    params: { system: prompt, temperature: 0.123, custom_params: { secret_param: "hush" } },
  });
});
afterEach(() => {
  upstream.always("/chat/completions", text("ok"));
});

/** Stores a model record that every account may read, as the owner's editor would. */
async function openModel(
  id: string,
  { base = null, params = {} }: { base?: string | null; params?: object } = {},
): Promise<void> {
  const { database } = app.running;
  const meta = { description: "shared", knowledge: [{ id: "knowledge-of-the-owner", name: "hush" }] };
  const columns = [id, id, admin.id, base, JSON.stringify(meta), JSON.stringify(params)];
  await database.query(
    "insert into model (id, name, user_id, base_model_id, meta, params, is_active, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, true, 1, 1)",
    columns,
  );
  await database.query(
    "insert into access_grant (resource_type, resource_id, principal_type, principal_id, permission, created_at) values ('model', $1, 'user', '*', 'read', 1)",
    [id],
  );
  await database.notify("models", {});
}

const complete = (sent: object, query = "", token = user.token) =>
  app.call(`POST /api/chat/completions${query}`, { token, body: { model: "open", messages, ...sent } });
const asked = () => upstream.requests.filter(({ method }) => method === "POST").length;

/** Status and text of a call that no upstream may receive. */
async function refused(call: () => Promise<{ status: number; text: string }>): Promise<[number, string]> {
  const before = asked();
  const { status, text: answer } = await call();
  expect(asked()).toBe(before);
  return [status, answer.replaceAll(/"request_id":"[^"]+"/g, "")];
}

describe("a completion", () => {
  it("into an unknown or foreign chat is 404 before anything is asked or written (S1)", async () => {
    const ids = [
      unknownId,
      victim.id,
      "x' or '1'='1",
      "../..",
      "%00",
      "__proto__",
      "TEMPORARY:x",
      " temporary:x",
    ];
    const answers = await Promise.all(
      ids.map((chat_id) => refused(() => complete({ chat_id, id: unknownId, stream: true }))),
    );
    expect(answers.map(([status]) => status)).toEqual(ids.map(() => 404));
    expect(new Set(answers.map(([, answer]) => answer)).size).toBe(1);
  });

  it("with a foreign file takes nothing of it along (S19)", async () => {
    const file = await upload(app, ["secret.txt", "nobody else's text"], { token: victim.token });
    const before = upstream.requests.length;
    await complete({
      files: [
        { type: "file", id: file.body.id },
        { type: "collection", id: `file-${file.body.id}` },
      ],
      metadata: { files: [{ id: file.body.id }] },
    });
    const sent = upstream.requests.slice(before).map((request) => request.bytes.toString());
    expect(sent.join()).not.toContain("nobody else's");
  });

  it.each<[string, object]>([
    ["tool_ids", { tool_ids: [unknownId, "server:mcp:x", "direct_server:x"] }],
    ["tool_servers", { tool_servers: [{ url: "URL", auth_type: "bearer", key: "${PATH}" }] }],
    ["terminal_id", { terminal_id: "URL" }],
    ["features", { features: { web_search: true, code_interpreter: true, image_generation: true } }],
    [
      "pictures by address",
      {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "URL/picture.png" } }] }],
      },
    ],
    ["a message of an own address", { model_item: { direct: true, urlIdx: 0, url: "URL" } }],
  ])("with %s contacts nobody but the model's upstream (S55, S79)", async (_what, extra) => {
    const stranger = await startUpstream();
    try {
      await complete(JSON.parse(JSON.stringify(extra).replaceAll("URL", stranger.origin)));
      expect(stranger.requests).toEqual([]);
    } finally {
      await stranger.close();
    }
  });

  it.each([
    "bypass_filter=true",
    "bypass_system_prompt=1",
    "bypass_access_control=true",
    "model=closed",
    "admin=1",
    "user_id=x",
  ])("with ?%s is as without (S51)", async (query) => {
    expect((await refused(() => complete({ model: "closed" }, `?${query}`)))[0]).toBe(404);
    await complete({ model: "shared", [query.split("=")[0] as string]: true }, `?${query}`);
    expect(upstream.requests.at(-1)?.body.messages[0]).toEqual({ role: "system", content: prompt });
  });
});

describe("a model that is not the caller's", () => {
  it("is unknown on every route, in the same words", async () => {
    for (const route of [
      "api/chat/completions",
      "api/chat/completed",
      "api/embeddings",
      "api/v1/embeddings",
      "compat/chat/completions",
      "compat/embeddings",
      "compat/responses",
      "compat/anything",
    ]) {
      const ask = (model: string) =>
        refused(() => user.call(`POST /${route}`, { model, messages, input: "x" }));
      const [closed, missing] = [await ask("closed"), await ask("no-such-model")];
      expect([route, closed]).toEqual([route, missing]);
      expect(closed[0]).toBe(404);
    }
    const listed = await user.call("GET /api/models");
    expect(listed.text).not.toContain('"closed"');
    expect((await user.call("GET /compat/models")).text).not.toContain('"closed"');
  });

  it.each(["compat/chat/completions", "compat/embeddings", "compat/responses", "compat/completions"])(
    "cannot be named behind an open one at /%s",
    async (route) => {
      upstream.always(({ method }) => method === "POST", json({ object: "list", data: [], choices: [] }));
      const rest = `"messages":[{"role":"user","content":"Hi"}],"input":"x"`;
      for (const text of [
        `{"model":"closed",${rest},"model":"open"}`,
        `{"mod\\u0065l":"closed",${rest},"model":"open"}`,
        `{"m\\u006fdel":"closed",${rest},"model":"open"}`,
        `{"model":"open",${rest},"Model":"closed"}`,
        `{"model":"open",${rest},"\\u004dODEL":"closed"}`,
      ]) {
        await user.call(`POST /${route}`, text);
        // Upstreams differ in duplicate keys, so each is sent once.
        const sent = upstream.requests.at(-1)?.bytes.toString() ?? "";
        expect([sent.includes("closed"), sent.includes("open")]).toEqual([false, true]);
      }
    },
  );

  it.each(["text/plain", "application/octet-stream", "application/x-www-form-urlencoded", ""])(
    "cannot be named in a body that says it is %j",
    async (type) => {
      const call = () =>
        user.call("POST /compat/completions", JSON.stringify({ model: "closed", prompt: "x" }), {
          "content-type": type,
        });
      expect((await refused(call))[0]).toBe(400);
    },
  );
});

describe("a shared model (S53)", () => {
  it("shows no prompt, parameter or knowledge to those who may only use it", async () => {
    for (const path of [
      "api/models",
      "api/models?refresh=true",
      "api/v1/models",
      "compat/models",
      "api/config",
      "api/v1/configs/models/defaults",
    ]) {
      const { text: shown } = await user.call(`GET /${path}`);
      for (const hidden of [prompt, "0.123", "secret_param", "hush", "knowledge-of-the-owner", key]) {
        expect([path, shown.includes(hidden)]).toEqual([path, false]);
      }
    }
    expect((await user.call("GET /api/models")).text).toContain('"shared"');
  });
});
