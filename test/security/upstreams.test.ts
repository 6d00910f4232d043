import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { body, failure, sse, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

const key = "upstream-key-that-nobody-may-see-0123456789";
const messages = [{ role: "user", content: "Hi" }];
let started: AppWithUpstream;
let upstream: Upstream;
let app: App;
let admin: TestUser;
let user: TestUser;

beforeAll(async () => {
  started = await startAppWithUpstream({
    models: ["open", "closed"],
    connection: {
      access: "everyone",
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
  });
  ({ app, upstream } = started);
  upstream.always("/chat/completions", text("ok"));
  [admin, user] = [await app.admin(), await app.user()];
});
afterEach(() => {
  upstream.always("/chat/completions", text("ok"));
});
afterAll(() => started?.close());

const complete = (sent: object) =>
  user.call("POST /api/chat/completions", { model: "open", messages, ...sent });

describe("what goes to an upstream", () => {
  it("has one line a header, whatever people are called", async () => {
    const name = "Eve\r\nx-injected: 1\u2028\u0000\u001b[31m é".replace("\u0000", "");
    await user.call("POST /api/v1/auths/update/profile", { name, profile_image_url: "" });
    expect((await complete({ chat_id: "temporary:a\r\nx-injected: 2" })).status).toBe(200);
    const { headers } = upstream.requests.at(-1) as { headers: Record<string, string> };
    expect(headers["x-injected"]).toBeUndefined();
    expect(headers["x-user"]).toMatch(/^Eve x-injected: 1/);
    expect(Object.values(headers).join("")).not.toMatch(/[^\u0020-\u007e]/);
  });

  it("keeps what looks like the environment or somebody's token as it is written (S81)", async () => {
    await complete({});
    expect(upstream.requests.at(-1)?.headers["x-literal"]).toBe("${PATH} {{OPENID_ACCESS_TOKEN}}");
  });

  it("holds neither the caller's credential nor the cookie", async () => {
    await app.call("POST /api/chat/completions", {
      body: { model: "open", messages },
      headers: { cookie: `token=${user.token}`, "x-secret": "s" },
    });
    const sent = upstream.requests.at(-1);
    expect(JSON.stringify(sent?.headers)).not.toContain(user.token);
    expect([sent?.headers["cookie"], sent?.headers["x-secret"], sent?.headers["authorization"]]).toEqual([
      undefined,
      undefined,
      `Bearer ${key}`,
    ]);
    await user.call("GET /compat/anything", undefined, { cookie: "a=b", "x-api-key": "" });
    expect(JSON.stringify(upstream.requests.at(-1)?.headers)).not.toContain(user.token);
  });
});

describe("a malicious upstream (S87)", () => {
  it("that sends events and frames of its own gets no more than text through", async () => {
    const frames = [
      'event: execute:python\ndata: {"code":"1"}\n\n',
      'event: chat:completion\ndata: {"done":true}\n\n',
      'id: 1\nretry: 1\ndata: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n',
      "data: [DONE]\n\n",
    ];
    upstream.always(
      "/chat/completions",
      body(frames.join(""), { headers: { "content-type": "text/event-stream", "set-cookie": "token=x" } }),
    );
    const answer = await complete({ stream: true });
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("set-cookie")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      null,
    ]);
    expect(answer.text).toContain("hello");
  });

  it("that redirects to itself, to a private place or in circles is told so, and nobody is asked (S75)", async () => {
    const inner = await startUpstream();
    try {
      for (const status of [301, 302, 307, 308]) {
        upstream.always(
          "/chat/completions",
          body("", { status, headers: { location: `${inner.origin}/latest/meta-data` } }),
        );
        expect((await complete({})).status).toBe(502);
      }
      upstream.always(
        "/anything",
        body("", { status: 302, headers: { location: "http://169.254.169.254/latest/meta-data" } }),
      );
      expect((await user.call("GET /compat/anything")).status).toBe(502);
      expect(inner.requests).toEqual([]);
    } finally {
      await inner.close();
    }
  });

  it("that quotes the key it was given does not hand it to the caller (S107)", async () => {
    upstream.always("/chat/completions", failure(401, `Incorrect API key provided: ${key}`));
    const refusal = await complete({});
    expect([refusal.status, refusal.text.includes(key)]).toEqual([401, false]);
  });

  it("whose list of models nests deeply, or reaches for a prototype, harms no other model", async () => {
    const deep = await startUpstream();
    try {
      for (const bad of [
        `{"data":[{"id":"deep","x":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`,
        '{"data":[{"id":"deep","__proto__":{"polluted":true}}]}',
      ]) {
        deep.always("/models", body(bad, { headers: { "content-type": "application/json" } }));
        const form = {
          OPENAI_API_BASE_URLS: [upstream.url, deep.url],
          OPENAI_API_KEYS: [key, ""],
          OPENAI_API_CONFIGS: { 0: { access: "everyone" }, 1: { access: "everyone" } },
        };
        await admin.call("POST /compat/config/update", form);
        const listed = await user.call("GET /api/models?refresh=true");
        expect([listed.status, listed.text.includes('"open"'), listed.text.includes('"deep"')]).toEqual([
          200,
          true,
          false,
        ]);
      }
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    } finally {
      await deep.close();
    }
  });

  it("that fills its last frames with one word holds nobody up", async () => {
    upstream.always(
      "/chat/completions",
      sse([
        {
          choices: [{ index: 0, delta: { content: "x" } }],
          padding: Array.from({ length: 3_000 }, () => "usage"),
        },
      ]),
    );
    const started = performance.now();
    expect((await complete({ stream: true })).status).toBe(200);
    expect((await app.call("GET /health")).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("an admin's connection", () => {
  it("may be private, and never shows its key again", async () => {
    const verified = await admin.call("POST /compat/verify", { url: upstream.url, key });
    expect([verified.status, verified.body.data.length]).toEqual([200, 2]);
    for (const path of [
      "compat/config",
      "api/v1/configs/settings",
      "api/v1/configs/export",
      "api/v1/configs/namespace/openai",
    ]) {
      expect((await admin.call(`GET /${path}`)).text).not.toContain(key);
    }
  });

  it("does not give its key to another address when the mask comes back with one", async () => {
    const shown = (await admin.call("GET /compat/config")).body;
    const thief = await startUpstream();
    try {
      const answer = await admin.call("POST /compat/verify", {
        url: thief.url,
        key: shown.OPENAI_API_KEYS[0],
      });
      expect([answer.status, thief.requests.length]).toEqual([400, 0]);
    } finally {
      await thief.close();
    }
  });

  it("is none of anybody else's business", async () => {
    for (const route of ["GET /compat/config", "POST /compat/config/update", "POST /compat/verify"]) {
      expect(
        (
          await app.call(route, {
            token: user.token,
            ...(route.startsWith("POST") && { body: { url: upstream.url } }),
          })
        ).status,
      ).toBe(403);
    }
  });

  it.each([
    "file:///etc/passwd",
    "gopher://127.0.0.1",
    "javascript:alert(1)",
    "ftp://x",
    "unix:/var/run/docker.sock",
    "data:,x",
  ])("cannot have the address %s", async (url) => {
    expect((await admin.call("POST /compat/verify", { url })).status).toBe(400);
  });

  it.each([
    { host: "evil" },
    { "content-length": "1" },
    { "transfer-encoding": "chunked" },
    { "x\r\ny": "1" },
    { "x y": "1" },
  ])("cannot set the header %j", async (headers) => {
    const answer = await admin.call("POST /compat/verify", { url: upstream.url, config: { headers } });
    expect(answer.status).toBe(400);
  });
});
