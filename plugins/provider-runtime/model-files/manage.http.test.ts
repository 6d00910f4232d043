import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { body, json, jsonLines } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let one: Runtime;
let two: Runtime;
let site: Upstream;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  one = await startRuntime(["shared:1b", "llama3:latest"]);
  two = await startRuntime(["shared:1b"]);
  site = await startUpstream();
  app = await startApp({
    env: {
      OLLAMA_BASE_URLS: `${one.origin};${two.origin}`,
      OLLAMA_API_CONFIGS: '{"1": {"prefix_id": "box"}}',
      OLLAMA_MODEL_FILE_MAX_BYTES: "300000",
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app.close();
  await Promise.all([one.close(), two.close(), site.close()]);
});

const call = (route: string, sent?: unknown) =>
  app.call(route, { token: admin.token, ...(sent !== undefined && { body: sent }) });
const reports = (text: string) =>
  text
    .trim()
    .split("\n\n")
    .map((frame) => JSON.parse(frame.replace(/^data: /, "")));
const listed = async () =>
  (await call("GET /runtime/api/tags")).body.models.map((each: { model: string }) => each.model);
const leftovers = () => readdir(join(app.running.config.dataDir, "model-files"));

describe("administrators", () => {
  it("fetch models, and see the progress as it comes", async () => {
    const progress = [{ status: "pulling manifest" }, { status: "success" }];
    one.reply("/api/pull", jsonLines(progress));
    one.held = [...one.held, "new:latest"];
    const answer = await call("POST /runtime/api/pull", { name: "new" });
    expect(answer.text).toBe(progress.map((each) => `${JSON.stringify(each)}\n`).join(""));
    expect(one.last("/api/pull").body).toEqual({ model: "new" });
    await expect.poll(listed).toContain("new:latest");
    two.reply("/api/pull", jsonLines(progress));
    await call("POST /runtime/api/pull/1", { model: "box.tiny" });
    expect(two.last("/api/pull").body).toEqual({ model: "tiny" });
  });

  it("make, copy and publish models of one backend", async () => {
    one.always("/api/create", jsonLines([{ status: "success" }]));
    one.always("/api/copy", json({}));
    one.always("/api/push", jsonLines([{ status: "success" }]));
    expect((await call("POST /runtime/api/create", { model: "mine", from: "llama3" })).status).toBe(200);
    expect(one.last("/api/create").body).toEqual({ model: "mine", from: "llama3" });
    expect((await call("POST /runtime/api/copy", { source: "llama3", destination: "other" })).status).toBe(
      200,
    );
    expect(one.last("/api/copy").body).toMatchObject({ source: "llama3:latest", destination: "other" });
    for (const route of ["POST /runtime/api/push", "DELETE /runtime/api/push/0"]) {
      expect((await call(route, { model: "llama3" })).status).toBe(200);
      expect(one.last("/api/push")).toMatchObject({ method: "POST", body: { model: "llama3:latest" } });
    }
    expect((await call("POST /runtime/api/copy/1", { source: "llama3", destination: "x" })).status).toBe(404);
  });

  it("delete a model where it is, so that it is gone from the list", async () => {
    two.always("/api/delete", async (exchange) => {
      two.held = [];
      await json({})(exchange);
    });
    expect((await call("DELETE /runtime/api/delete/1", { model: "box.shared:1b" })).status).toBe(200);
    expect(two.last("/api/delete")).toMatchObject({ method: "DELETE", body: { model: "shared:1b" } });
    expect(await listed()).not.toContain("box.shared:1b");
    expect((await call("DELETE /runtime/api/delete", { model: "nobody" })).status).toBe(404);
  });

  it("see what is in memory, and free it", async () => {
    one.loaded = [{ name: "shared:1b", model: "shared:1b", expires_at: "2026-01-01T00:00:00Z" }];
    const { body: loaded } = await call("GET /runtime/api/ps");
    expect(loaded.models).toEqual([expect.objectContaining({ model: "shared:1b", url_idx: 0 })]);
    one.always("/api/generate", json({ done: true }));
    expect((await call("POST /runtime/api/unload", { model: "shared:1b" })).body).toEqual({ status: true });
    expect(one.last("/api/generate").body).toMatchObject({ model: "shared:1b", keep_alive: 0 });
  });

  it("are the only ones", async () => {
    const member = await app.user();
    for (const route of [
      "GET api/ps",
      "POST api/unload",
      "POST api/pull",
      "POST api/push",
      "DELETE api/push",
      "POST api/create",
      "POST api/copy",
      "DELETE api/delete",
      "POST models/download",
      "POST models/upload/0",
    ]) {
      const [method, path] = route.split(" ") as [string, string];
      const sent = method === "GET" ? {} : { body: { model: "llama3" } };
      const answer = await app.call(`${method} /runtime/${path}`, { token: member.token, ...sent });
      expect([route, answer.status, Object.keys(answer.body)]).toEqual([route, 403, ["error"]]);
    }
  });
});

describe("model files", () => {
  const bytes = Buffer.alloc(200_000, "weights");
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const form = (content: Uint8Array, name: string) => {
    const made = new FormData();
    made.set("file", new Blob([content as Uint8Array<ArrayBuffer>]), name);
    return made;
  };

  it("are handed to a backend, which makes a model of them", async () => {
    one.always(
      (request) => request.path.startsWith("/api/blobs/") && request.method === "HEAD",
      body("", { status: 404 }),
    );
    one.always(
      (request) => request.path.startsWith("/api/blobs/") && request.method === "POST",
      body("", { status: 201 }),
    );
    one.always("/api/create", jsonLines([{ status: "parsing GGUF" }, { status: "success" }]));
    const answer = await call("POST /runtime/models/upload/0", form(bytes, "../My Model.gguf"));
    expect(reports(answer.text)).toEqual([
      { progress: 100, completed: 200_000, total: 200_000 },
      { status: expect.any(String), total: 200_000 },
      { status: "parsing GGUF" },
      { status: "success" },
      { done: true, blob: digest, name: "My-Model.gguf", model_created: "my-model" },
    ]);
    const blob = one.requests.find(
      ({ method, path }) => method === "POST" && path === `/api/blobs/${digest}`,
    );
    expect(blob?.bytes.equals(bytes)).toBe(true);
    expect(one.last("/api/create").body).toEqual({
      model: "my-model",
      files: { "My-Model.gguf": digest },
      stream: true,
    });
    expect(await leftovers()).toEqual([]);
  });

  it("come from a site too, and are not sent twice", async () => {
    one.reply((request) => request.method === "HEAD", body("", { status: 200 }));
    site.always("/tiny.gguf", body(bytes, { headers: { "content-type": "application/octet-stream" } }));
    const before = one.requests.filter(({ path }) => path.startsWith("/api/blobs/")).length;
    const answer = await call("POST /runtime/models/download", {
      url: `${site.origin}/tiny.gguf`,
      model: "tiny",
    });
    expect(reports(answer.text).at(-1)).toEqual({
      done: true,
      blob: digest,
      name: "tiny.gguf",
      model_created: "tiny",
    });
    expect(one.requests.filter(({ path }) => path.startsWith("/api/blobs/")).length).toBe(before + 1);
  });

  it("are refused when they are too large or missing, and leave nothing behind", async () => {
    const large = await call("POST /runtime/models/upload", form(Buffer.alloc(400_000), "a.gguf"));
    expect([large.status, large.body]).toEqual([413, { error: expect.any(String) }]);
    expect((await call("POST /runtime/models/upload", { a: 1 })).status).toBe(400);
    site.always("/large.gguf", body(Buffer.alloc(400_000)));
    site.always("/gone.gguf", body("", { status: 404 }));
    for (const name of ["large", "gone"]) {
      const answer = await call("POST /runtime/models/download", { url: `${site.origin}/${name}.gguf` });
      expect(reports(answer.text).at(-1)).toEqual({
        error: expect.objectContaining({ message: expect.any(String) }),
      });
    }
    one.reply("/api/create", jsonLines([{ error: "unsupported" }]));
    const unmade = await call("POST /runtime/models/upload", form(bytes, "b.gguf"));
    expect(reports(unmade.text).at(-1).error.message).toContain("unsupported");
    expect(await leftovers()).toEqual([]);
  });
});
