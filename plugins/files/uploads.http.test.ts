import { createHash } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { listStored, type Sent, upload } from "./client.fixture.ts";

let app: App;
let owner: TestUser;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  owner = await app.user();
});

afterAll(() => app.close());

const send = (name: string, content: string, sent: Partial<Sent> = {}) =>
  upload(app, [name, content], { token: owner.token, ...sent });
const get = (path: string, token = owner.token, headers: Record<string, string> = {}) =>
  app.call(`GET /api/v1/files/${path}`, { token, headers });
const stored = () => listStored(app.running.config.dataDir);

const sha256 = (content: string) => createHash("sha256").update(content).digest("hex");

describe("an upload", () => {
  it("answers the record, and its text follows", async () => {
    const { status, body } = await send("notes.md", "# Grüße", {
      metadata: '{"channel_id":"k","language":"de"}',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: true,
      user_id: owner.id,
      filename: "notes.md",
      hash: sha256("# Grüße"),
      data: { status: "pending", error: null },
      meta: {
        name: "notes.md",
        content_type: "text/plain",
        size: 9,
        file_hash: sha256("# Grüße"),
        data: { channel_id: "k", language: "de" },
        collection_name: `file-${body.id}`,
      },
    });
    expect(body.path).toEqual(expect.any(String));
    const events = await get(`${body.id}/process/status?stream=true`);
    expect(events.headers.get("content-type")).toContain("text/event-stream");
    expect(events.text.trim().split("\n\n").at(-1)).toBe('data: {"status":"completed"}');
    expect((await get(`${body.id}/process/status`)).body).toEqual({ status: "completed" });
    expect((await get(`${body.id}/data/content`)).body).toEqual({ content: "# Grüße" });
    expect((await get(body.id)).body.data).toEqual({
      status: "completed",
      error: null,
      content: "# Grüße",
      passages: { total: 1, embedded: expect.any(Number) },
    });
    expect((await get(`${body.id}/content`)).text).toBe("# Grüße");
  });

  it.each([
    "?process_in_background=false",
    "?process_in_background=0",
    "?process=1&process_in_background=False",
  ])("waits for its text with %s", async (query) => {
    const { body } = await send("a.txt", "text", { query });
    expect(body.data).toEqual({ status: "completed", error: null, content: "text" });
  });

  it.each(["?process=false", "?process=0"])("is not read with %s", async (query) => {
    const { body } = await send("a.txt", "text", { query });
    expect(body.data).toEqual({ status: "completed", error: null });
    expect((await get(`${body.id}/data/content`)).body).toEqual({ content: "" });
  });

  it.each([
    ["a query that is no switch", () => send("a.txt", "x", { query: "?process=maybe" }), 422],
    ["metadata that is no JSON", () => send("a.txt", "x", { metadata: "{" }), 400],
    ["metadata that is no object", () => send("a.txt", "x", { metadata: "[1]" }), 400],
    ["a JSON body", () => owner.call("POST /api/v1/files/", {}), 400],
    ["no credential", () => app.call("POST /api/v1/files/", { body: new FormData() }), 401],
    ["another field", () => owner.call("POST /api/v1/files/", otherField()), 400],
  ])("is refused with %s, and leaves nothing behind", async (_title, call, status) => {
    const before = await stored();
    const answer = await call();
    expect(answer.status).toBe(status);
    expect(answer.body).toHaveProperty("detail");
    expect(await stored()).toEqual(before);
  });

  function otherField() {
    const body = new FormData();
    body.append("document", new File(["x"], "x"));
    return body;
  }

  // Promise S29.
  it.each(["../../etc/passwd", "/etc/passwd", "..\\..\\x", "C:\\x", `${"x".repeat(400)}.txt`, "a\u0000b"])(
    "of %j is stored under a key of the server's making",
    async (name) => {
      const { status, body } = await send(name, "x");
      expect(status).toBe(200);
      expect(body.filename).not.toMatch(/[/\\]|\.\./);
      expect(body.filename.length).toBeLessThanOrEqual(255);
      expect((await stored()).filter((key) => key.endsWith(body.id))).toHaveLength(1);
    },
  );

  it("keeps metadata that the database cannot hold as it stands", async () => {
    const { status, body } = await send("a.txt", "x", { metadata: '{"a\\u0000":"b\\u0000\\ud800"}' });
    expect(status).toBe(200);
    expect(body.meta.data).toEqual({ a: "b\ufffd" });
  });

  it("needs the permission unless an admin sends it", async () => {
    const permissions = await admin.call("GET /api/v1/users/default/permissions");
    const change = (file_upload: boolean) =>
      admin.call("POST /api/v1/users/default/permissions", {
        ...permissions.body,
        chat: { ...permissions.body.chat, file_upload },
      });
    await change(false);
    expect((await send("a.txt", "x")).status).toBe(403);
    expect((await send("a.txt", "x", { token: admin.token })).status).toBe(200);
    await change(true);
    expect((await send("a.txt", "x")).status).toBe(200);
  });

  // Contract D.5, promise R10.
  it("repeated with its Idempotency-Key is stored once; another file under it is refused", async () => {
    const key = (name: string) => ({ headers: { "idempotency-key": name } });
    const first = await send("a.txt", "x", key("once"));
    expect((await send("a.txt", "x", key("once"))).body).toEqual(first.body);
    expect((await send("a.txt", "other", key("once"))).status).toBe(409);

    const before = (await get("count")).body.count as number;
    const answers = await Promise.all(Array.from({ length: 10 }, () => send("a.txt", "x", key("parallel"))));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual(
      [],
    );
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id)).size).toBe(1);
    expect((await get("count")).body).toEqual({ count: before + 1 });
  });
});

describe("limits", () => {
  it("refuse a body that is announced too large before any of it is sent", async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const sending = request(`${app.url}/api/v1/files/`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${owner.token}`,
        "content-type": "multipart/form-data; boundary=edge",
        "content-length": 120 * 1024 * 1024,
      },
    });
    sending.once("response", ({ statusCode }) => resolve(statusCode));
    sending.once("error", reject);
    sending.flushHeaders();
    expect(await promise).toBe(413);
    sending.destroy();
  });

  it("bound the streams of progress that one person follows, and nobody else's", async () => {
    const { body } = await send("waits.txt", "x");
    await expect.poll(async () => (await get(body.id)).body.data.status).toBe("completed");
    await app.running.database.query("update file set status = 'pending', lease_until = $2 where id = $1", [
      body.id,
      4_000_000_000,
    ]);
    const controller = new AbortController();
    const follow = (token: string) =>
      fetch(`${app.url}/api/v1/files/${body.id}/process/status?stream=true`, {
        headers: { authorization: `Bearer ${token}` },
        signal: controller.signal,
      });
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow(owner.token)));
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    expect((await follow(owner.token)).status).toBe(429);
    expect((await follow(admin.token)).status).toBe(200);
    controller.abort();
    await owner.call(`DELETE /api/v1/files/${body.id}`);
  });

  it("refuse large files and other endings, live", async () => {
    const { registry } = app.running;
    await registry.set({ RAG_FILE_MAX_SIZE: 1, RAG_ALLOWED_FILE_EXTENSIONS: ["txt"] }, null);
    const before = await stored();
    expect((await send("a.txt", "x".repeat(1024 * 1024 + 1))).status).toBe(413);
    expect((await send("a.md", "x")).status).toBe(400);
    expect((await send("a", "x")).status).toBe(400);
    expect(await stored()).toEqual(before);
    const { status, body } = await send("a.TXT", "x".repeat(1024 * 1024));
    expect(status).toBe(200);
    expect((await owner.call(`POST /api/v1/files/${body.id}/rename`, { filename: "a.exe" })).status).toBe(
      400,
    );
    await registry.set({ RAG_FILE_MAX_SIZE: null, RAG_ALLOWED_FILE_EXTENSIONS: [] }, null);
  });
});
