import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import {
  type ImageStage,
  isEdit,
  isGeneration,
  pixel,
  pixelText,
  startImageStage,
} from "./images.fixture.ts";

let stage: ImageStage["stage"];
let engine: ImageStage["engine"];
let member: TestUser;
let set: ImageStage["set"];
let all: ImageStage;

beforeAll(async () => {
  all = await startImageStage();
  ({ stage, engine, set } = all);
  member = await stage.app.user();
});
afterAll(() => all?.close());
beforeEach(() => all.reset());

const call = (route: string, given?: unknown, who: TestUser = member) => who.call(route, given);
const generate = (given: object = {}, who?: TestUser) =>
  call("POST /api/v1/images/generations", { prompt: "A mill at dawn", ...given }, who);
const read = async (url: string, who: TestUser = member) => {
  const answer = await fetch(`${stage.app.url}${url}`, { headers: { authorization: `Bearer ${who.token}` } });
  return {
    type: answer.headers.get("content-type"),
    bytes: Buffer.from(await answer.arrayBuffer()),
    status: answer.status,
  };
};

describe("pictures", () => {
  it.each(["/api/v1/images", "/images/api/v1"])(
    "are made at %s and become files of the caller",
    async (base) => {
      const answer = await call(`POST ${base}/generations`, { prompt: "A mill", n: 1, size: "1024x1024" });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual([
        { url: expect.stringMatching(/^\/api\/v1\/files\/[0-9a-f-]{36}\/content$/) },
      ]);
      expect(await read(answer.body[0].url)).toEqual({ type: "image/png", bytes: pixel, status: 200 });
      expect((await read(answer.body[0].url, await stage.app.user())).status).toBe(404);
      const asked = engine.requests.findLast(isGeneration);
      expect(asked?.headers["authorization"]).toBe("Bearer picture-key");
      expect(asked?.body).toEqual({ prompt: "A mill", n: 1, size: "1024x1024", response_format: "b64_json" });
    },
  );

  it("follow the settings where the caller says nothing, and further fields of the engine", async () => {
    await set({
      IMAGE_GENERATION_MODEL: "gpt-image-1",
      IMAGE_SIZE: "auto",
      IMAGES_OPENAI_API_PARAMS: { quality: "low" },
    });
    await generate();
    expect(engine.requests.findLast(isGeneration)?.body).toEqual({
      model: "gpt-image-1",
      prompt: "A mill at dawn",
      n: 1,
      quality: "low",
    });
    await set({ IMAGE_GENERATION_MODEL: "", IMAGES_OPENAI_API_PARAMS: {} });
  });

  it("are loaded from the address that the engine names, unless it is a private one of others", async () => {
    engine.always(
      ({ path }) => path === "/made.png",
      body(pixel, { headers: { "content-type": "text/plain" } }),
    );
    engine.reply(isGeneration, json({ data: [{ url: `${engine.origin}/made.png` }] }));
    expect((await generate()).status).toBe(200);
    engine.reply(isGeneration, json({ data: [{ url: "http://127.0.0.1:1/secret.png" }] }));
    expect((await generate()).status).toBe(403);
  });

  it("are changed: files, data URIs, and none of others", async () => {
    const [own] = (await generate()).body;
    const edited = await call("POST /api/v1/images/edit", {
      image: [own.url, `data:image/png;base64,${pixelText}`],
      prompt: "Make it night",
    });
    expect(edited.status, edited.text).toBe(200);
    const sent = engine.requests.findLast(isEdit)!;
    expect(sent.headers["content-type"]).toMatch(/^multipart\/form-data/);
    expect(sent.body.match(/name="image\[\]"; filename="picture-\d\.png"/g)).toHaveLength(2);
    const other = await stage.app.user();
    const foreign = await call("POST /api/v1/images/edit", { image: own.url, prompt: "Steal" }, other);
    expect(foreign.status).toBe(404);
    const refused = async (image: string) =>
      (await call("POST /api/v1/images/edit", { image, prompt: "x" })).body.detail;
    expect(await refused("data:image/png;base64,aGVsbG8=")).toBe(
      "image: is no PNG, JPEG, GIF or WebP picture.",
    );
    expect(await refused("file:///etc/passwd")).toMatch(/^image: must be the id of a file/);
    expect(await refused("http://127.0.0.1:8099/a.png")).toMatch(/private/);
  });

  it("stand in the gallery of their person alone, newest first, until their file goes", async () => {
    const ann = await stage.app.user();
    for (const prompt of ["One", "Two", "Three"]) {
      await generate({ prompt }, ann);
    }
    const page = await call("GET /api/v1/images/gallery?limit=2", undefined, ann);
    expect(page.body.items.map((item: { prompt: string }) => item.prompt)).toEqual(["Three", "Two"]);
    const rest = await call(`GET /api/v1/images/gallery?limit=2&before=${page.body.next}`, undefined, ann);
    expect(rest.body).toMatchObject({
      items: [{ prompt: "One", kind: "generate", size: "512x512" }],
      next: null,
    });
    await call(`DELETE /api/v1/files/${page.body.items[0].id}`, undefined, ann);
    expect((await call("GET /api/v1/images/gallery", undefined, ann)).body.items).toHaveLength(2);
    expect((await call("GET /api/v1/images/gallery", undefined, await stage.app.user())).body.items).toEqual(
      [],
    );
  });
});

describe("wishes are refused", () => {
  it.each([
    [{ prompt: "  " }, 400, /^prompt: must be a text/],
    [{ n: 5 }, 400, "n: must be a whole number from 1 to 4."],
    [{ size: "huge" }, 400, /^size: must be such as 512x512/],
    [{ size: "9999x9999" }, 400, /^size: /],
  ])("%j", async (given, status, detail) => {
    const before = engine.requests.length;
    const answer = await generate(given);
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toMatch(detail as RegExp);
    expect(engine.requests.length).toBe(before);
  });

  it("while pictures are off, and without the permission", async () => {
    await set({ ENABLE_IMAGE_GENERATION: false, ENABLE_IMAGE_EDIT: false });
    expect(await generate()).toMatchObject({
      status: 403,
      body: { detail: "ENABLE_IMAGE_GENERATION is off." },
    });
    const edit = await call("POST /api/v1/images/edit", { image: "x", prompt: "x" });
    expect(edit).toMatchObject({ status: 403, body: { detail: "ENABLE_IMAGE_EDIT is off." } });
    await set({ ENABLE_IMAGE_GENERATION: true });
    const stored = await call("GET /api/v1/users/default/permissions", undefined, stage.user);
    const features = { ...stored.body.features, image_generation: false };
    await call("POST /api/v1/users/default/permissions", { ...stored.body, features }, stage.user);
    expect((await generate()).status).toBe(403);
    await call("POST /api/v1/users/default/permissions", stored.body, stage.user);
  });
});

it("callers are told what they may ask for", async () => {
  const options = async () => (await call("GET /api/v1/images/options")).body;
  expect(await options()).toEqual({ can_generate: true, can_edit: true, max_count: 4 });
  await set({ ENABLE_IMAGE_EDIT: false, IMAGE_GENERATION_MAX_COUNT: 2, IMAGE_GENERATION_ENGINE: "comfyui" });
  expect(await options()).toEqual({ can_generate: false, can_edit: false, max_count: 2 });
  await set({ IMAGE_GENERATION_MAX_COUNT: 4 });
});

describe("an engine that misbehaves is named", () => {
  it.each([
    [
      "a page of HTML",
      body("<html>Sign in</html>", { headers: { "content-type": "text/html" } }),
      502,
      /something other than JSON. Is its address right/,
    ],
    [
      "a page of HTML as an error",
      body("<html>Bad gateway</html>", { status: 502 }),
      502,
      "The image API answered with status 502.",
    ],
    ["no picture", json({ data: [] }), 502, /answered without a picture/],
    ["bytes that are none", json({ data: [{ b64_json: "aGVsbG8=" }] }), 502, /no PNG, JPEG, GIF or WebP/],
    [
      "a refusal in its own words",
      json({ error: { message: "Not this." } }, { status: 400 }),
      400,
      "The image API refused the request. It says: Not this.",
    ],
    ["a wrong key", json({}, { status: 401 }), 502, /Is its key right/],
  ])("for %s", async (_what, script, status, detail) => {
    engine.reply(isGeneration, script);
    const answer = await generate();
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toMatch(detail as RegExp);
  });

  it("for silence, after the time that is set", async () => {
    await set({ IMAGE_GENERATION_TIMEOUT_SECONDS: 1 });
    engine.reply(isGeneration, async (exchange) => await exchange.wait(60_000));
    const answer = await generate();
    expect(answer.status).toBe(504);
    expect(answer.body.detail).toMatch(/^The image API: /);
  });
});

describe("administrators", () => {
  it("read and change the settings; keys come back masked and stay", async () => {
    const config = await call("GET /api/v1/images/config", undefined, stage.user);
    expect(config.body).toMatchObject({ ENABLE_IMAGE_GENERATION: true, IMAGES_OPENAI_API_KEY: "sk-…" });
    const stored = await call(
      "POST /api/v1/images/config/update",
      { ...config.body, IMAGE_STEPS: 20 },
      stage.user,
    );
    expect(stored.body.IMAGE_STEPS).toBe(20);
    await generate();
    expect(engine.requests.findLast(isGeneration)?.headers["authorization"]).toBe("Bearer picture-key");
    const moved = { IMAGES_OPENAI_API_BASE_URL: "https://elsewhere.example/v1" };
    expect((await call("POST /api/v1/images/config/update", moved, stage.user)).status).toBe(400);
    expect((await call("POST /api/v1/images/config/update", { IMAGE_SIZE: "big" }, stage.user)).status).toBe(
      422,
    );
    for (const route of [
      "GET /api/v1/images/config",
      "GET /api/v1/images/engines",
      "GET /api/v1/images/config/url/verify",
    ]) {
      expect((await call(route)).status).toBe(403);
    }
  });

  it("see the engines, and try the chosen one although pictures are off", async () => {
    await set({ ENABLE_IMAGE_GENERATION: false });
    const list = await call("GET /api/v1/images/engines", undefined, stage.user);
    expect(list.body).toMatchObject({ can_generate: false, can_edit: true });
    expect(list.body.engines).toContainEqual(
      expect.objectContaining({ id: "automatic1111", missing: ["AUTOMATIC1111_BASE_URL"], can_edit: true }),
    );
    const tried = await call("POST /api/v1/images/try", { prompt: "A mill" }, stage.user);
    expect(tried.body.image).toBe(`data:image/png;base64,${pixelText}`);
    await set({ IMAGE_GENERATION_ENGINE: "paint" });
    const none = await call("POST /api/v1/images/try", { prompt: "A mill" }, stage.user);
    expect(none).toMatchObject({
      status: 503,
      body: { detail: expect.stringMatching(/Available are openai, gemini/) },
    });
  });
});

it("documents itself while ENV is dev, and tells clients that pictures are on", async () => {
  const docs = await fetch(`${stage.app.url}/images/api/v1/docs`);
  expect([docs.status, docs.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("text/html"),
  ]);
  const { paths } = await (await fetch(`${stage.app.url}/images/api/v1/openapi.json`)).json();
  expect(Object.keys(paths)).toContain("/images/api/v1/generations");
  expect((await member.call("GET /api/config")).body.features.enable_image_generation).toBe(true);
});
