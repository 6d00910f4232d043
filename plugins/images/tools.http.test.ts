import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isCompletion, runScripted } from "#plugins/runs/runs.fixture.ts";
import { json, text } from "#test/support/upstream-scripts.ts";
import { type ImageStage, isGeneration, pixel, startImageStage } from "./images.fixture.ts";

let stage: ImageStage["stage"];
let engine: ImageStage["engine"];
let set: ImageStage["set"];
let all: ImageStage;

beforeAll(async () => {
  all = await startImageStage();
  ({ stage, engine, set } = all);
});
afterAll(() => all?.close());
beforeEach(() => all.reset());

const readBytes = async (url: string) => {
  const headers = { authorization: `Bearer ${stage.user.token}` };
  return Buffer.from(await (await fetch(`${stage.app.url}${url}`, { headers })).arrayBuffer());
};

describe("models", () => {
  const features = { image_generation: true };
  const run = async (calls: Parameters<typeof runScripted>[1], changes: Record<string, unknown> = {}) => {
    const client = await stage.connect();
    const found = await runScripted(stage, calls, {
      features,
      session_id: await client.sessionId(),
      ...changes,
    });
    client.close();
    return found;
  };

  it("make pictures and change the newest one of the chat", async () => {
    const { values, reply } = await run([
      { name: "generate_image", args: { prompt: "A wheel" } },
      { name: "edit_image", args: { prompt: "Make it red" } },
    ]);
    expect(values[0]).toMatchObject({
      status: "success",
      message: expect.stringContaining("is shown to the user"),
    });
    expect(values[1]).toMatchObject({ status: "success" });
    expect(reply.files).toHaveLength(2);
    expect(reply.files[0]).toMatchObject({ type: "image", content_type: "image/png" });
    expect(await readBytes(reply.files[0].url)).toEqual(pixel);
    expect((await stage.user.call("GET /api/v1/images/gallery?limit=2")).body.items).toMatchObject([
      { kind: "edit", prompt: "Make it red" },
      { kind: "generate", prompt: "A wheel" },
    ]);
  });

  it("are told what went wrong", async () => {
    engine.reply(isGeneration, json({ error: { message: "Not this." } }, { status: 400 }));
    const { results } = await run([{ name: "generate_image", args: { prompt: "x" } }]);
    expect(results[0]).toBe("Error: The image API refused the request. It says: Not this.");
    const none = await run([{ name: "edit_image", args: { prompt: "x" } }]);
    expect(none.results[0]).toMatch(/^Error: images: the chat has no picture yet/);
  });

  it("are offered the tools where they are on and asked for", async () => {
    const offered = async (changes: object = {}) =>
      (await run([], { ...changes })).offered.filter((name) => name.endsWith("_image"));
    expect(await offered()).toEqual(["generate_image", "edit_image"]);
    expect(await offered({ features: {} })).toEqual([]);
    await set({ ENABLE_IMAGE_EDIT: false });
    expect(await offered()).toEqual(["generate_image"]);
    await set({ IMAGE_GENERATION_ENGINE: "comfyui" });
    expect(await offered()).toEqual([]);
  });

  it("that call no tools get a picture made from a task model's words", async () => {
    const isTask = (request: { path: string; body?: { stream?: boolean } }) =>
      isCompletion(request as never) && request.body?.stream !== true;
    stage.upstream.reply(isTask as never, text('{"prompt": "A painted mill"}'));
    const { reply } = await run([], { params: { function_calling: "legacy" }, session_id: undefined });
    expect(engine.requests.findLast(isGeneration)?.body.prompt).toBe("A painted mill");
    expect(reply.files).toMatchObject([{ type: "image" }]);
    expect(reply.statusHistory).toContainEqual(
      expect.objectContaining({ description: "Made a picture", done: true }),
    );
    await set({ ENABLE_IMAGE_PROMPT_GENERATION: false });
    engine.reply(isGeneration, json({ error: { message: "Not this." } }, { status: 400 }));
    const failed = await run([], { params: { function_calling: "legacy" }, session_id: undefined });
    expect(engine.requests.findLast(isGeneration)?.body.prompt).toBe("Hi");
    expect(failed.reply.content).toBe("Fine.");
    expect(failed.reply.statusHistory).toContainEqual(
      expect.objectContaining({ description: expect.stringContaining("Not this.") }),
    );
    await set({ ENABLE_IMAGE_PROMPT_GENERATION: true });
  });
});
