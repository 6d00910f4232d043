import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Egress } from "#kernel/egress/egress.ts";
import { openEgress } from "#test/support/egress.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { type ImageSettings, imageVariables } from "../config.ts";
import { pixel, pixelText } from "../images.fixture.ts";
import { createEngines } from "./engines.ts";

// Contracts of the engines' own documentation.

let peer: Upstream;
let egress: Egress;
let settings: Record<string, unknown>;

beforeAll(async () => {
  peer = await startUpstream();
  egress = openEgress({ allowRedirects: () => true });
  settings = Object.fromEntries(
    Object.entries(imageVariables).map(([name, { default: value }]) => [name, value]),
  );
});
afterAll(async () => {
  await egress?.close();
  await peer?.close();
});

const engine = (id: string, changes: Record<string, unknown>) => {
  const parts = { egress, settings: { ...settings, timeout: 5, ...changes } as unknown as ImageSettings };
  return createEngines(parts).find((each) => each.id === id)!;
};
const { signal } = new AbortController();
const wish = {
  prompt: "A mill",
  negativePrompt: "people",
  count: 2,
  size: { width: 512, height: 768 },
  steps: 20,
  signal,
};
const picture = { contentType: "image/png", bytes: pixel };
const at = (path: string) => (request: { path: string }) => request.path.split("?")[0] === path;
const asked = (path: string) => peer.requests.findLast(at(path));

describe("gemini", () => {
  const changes = () => ({ geminiUrl: `${peer.origin}/v1beta`, geminiKey: "g-key" });

  it("predicts with models of the imagen family", async () => {
    const path = "/v1beta/models/imagen-4.0-generate-001:predict";
    peer.reply(
      at(path),
      json({ predictions: [{ bytesBase64Encoded: pixelText }, { bytesBase64Encoded: pixelText }] }),
    );
    expect(await engine("gemini", changes()).generate!(wish)).toMatchObject([picture, picture]);
    expect(asked(path)?.headers["x-goog-api-key"]).toBe("g-key");
    expect(asked(path)?.body.parameters).toEqual({
      sampleCount: 2,
      outputOptions: { mimeType: "image/png" },
    });
    expect(asked(path)?.body.instances[0].prompt).toContain("Avoid: people");
  });

  it("generates content with others, one picture a call, and edits so", async () => {
    const path = "/v1beta/models/gemini-2.5-flash-image:generateContent";
    const answer = {
      candidates: [{ content: { parts: [{ text: "Here" }, { inlineData: { data: pixelText } }] } }],
    };
    peer.always(at(path), json(answer));
    const found = await engine("gemini", changes()).edit!({ ...wish, images: [picture] });
    expect(found).toHaveLength(2);
    expect(asked(path)?.body.contents[0].parts[1]).toEqual({
      inlineData: { mimeType: "image/png", data: pixelText },
    });
    peer.reply(at(path), json({ candidates: [{ content: { parts: [{ text: "I cannot draw that." }] } }] }));
    const refused = engine("gemini", changes()).edit!({ ...wish, count: 1, images: [picture] });
    await expect(refused).rejects.toMatchObject({
      code: "invalid",
      detail: expect.stringContaining("I cannot draw that."),
    });
  });
});

describe("automatic1111", () => {
  const changes = () => ({
    automaticUrl: peer.origin,
    automaticAuth: "ann:secret",
    automaticParams: { sampler_name: "Euler" },
    model: "sd-xl",
  });

  it("draws with the model for this request alone", async () => {
    peer.reply(at("/sdapi/v1/txt2img"), json({ images: [pixelText, pixelText, pixelText] }));
    expect(await engine("automatic1111", changes()).generate!(wish)).toHaveLength(2);
    expect(asked("/sdapi/v1/txt2img")?.body).toEqual({
      prompt: "A mill",
      negative_prompt: "people",
      batch_size: 2,
      width: 512,
      height: 768,
      steps: 20,
      sampler_name: "Euler",
      override_settings: { sd_model_checkpoint: "sd-xl" },
    });
    expect(asked("/sdapi/v1/txt2img")?.headers["authorization"]).toBe(`Basic ${btoa("ann:secret")}`);
  });

  it("changes pictures and lists models", async () => {
    peer.reply(at("/sdapi/v1/img2img"), json({ images: [pixelText] }));
    await engine("automatic1111", changes()).edit!({ ...wish, images: [picture] });
    expect(asked("/sdapi/v1/img2img")?.body.init_images).toEqual([pixelText]);
    peer.reply(at("/sdapi/v1/sd-models"), json([{ title: "xl [1]", model_name: "xl" }]));
    expect(await engine("automatic1111", changes()).models(signal)).toEqual([{ id: "xl [1]", name: "xl" }]);
  });
});

describe("comfyui", () => {
  const workflow = {
    3: { inputs: { seed: 1, steps: 5 } },
    6: { inputs: { text: "" } },
    10: { inputs: { image: "" } },
  };
  const nodes = [
    { type: "prompt", node_ids: ["6"] },
    { type: "seed", node_ids: ["3"] },
    { type: "steps", node_ids: ["3"], key: "steps" },
  ];
  const changes = () => ({
    comfyUrl: peer.origin,
    comfyKey: "c-key",
    comfyWorkflow: JSON.stringify(workflow),
    comfyNodes: nodes,
    editComfyWorkflow: JSON.stringify(workflow),
    editComfyNodes: [{ type: "image", node_ids: ["10"] }],
  });
  const done = { outputs: { 9: { images: [{ filename: "a b.png", subfolder: "s", type: "output" }] } } };

  it("fills the workflow, waits for it and fetches what it made", async () => {
    peer.always(at("/prompt"), json({ prompt_id: "p1" }));
    peer.reply(at("/history/p1"), json({}));
    peer.reply(at("/history/p1"), json({ p1: done }));
    peer.always(at("/view"), body(pixel));
    expect(await engine("comfyui", changes()).generate!(wish)).toMatchObject([picture]);
    const { prompt } = asked("/prompt")!.body;
    expect(prompt[6].inputs.text).toBe("A mill");
    expect(prompt[3].inputs).toEqual({ seed: expect.any(Number), steps: 20 });
    expect(prompt[3].inputs.seed).not.toBe(1);
    expect(asked("/view")?.path).toBe("/view?filename=a+b.png&subfolder=s&type=output");
    expect(asked("/prompt")?.headers["authorization"]).toBe("Bearer c-key");
  });

  it("uploads pictures that are to be changed", async () => {
    peer.reply(at("/upload/image"), json({ name: "up.png", subfolder: "in" }));
    peer.reply(at("/history/p1"), json({ p1: done }));
    await engine("comfyui", changes()).edit!({ ...wish, images: [picture] });
    expect(asked("/prompt")?.body.prompt[10].inputs.image).toBe("in/up.png");
  });

  it("is waited for as long as is set, and its failures are told", async () => {
    peer.reply(at("/history/p1"), json({ p1: { outputs: {}, status: { status_str: "error" } } }));
    const failed = engine("comfyui", changes()).generate!(wish);
    await expect(failed).rejects.toMatchObject({ code: "upstream", detail: "ComfyUI: the workflow failed." });
    peer.always(at("/history/p1"), json({}));
    const late = engine("comfyui", { ...changes(), timeout: 1 }).generate!(wish);
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    const wrong = { ...changes(), comfyNodes: [{ type: "prompt", node_ids: ["77"] }] };
    await expect(engine("comfyui", wrong).generate!(wish)).rejects.toMatchObject({
      detail: 'ComfyUI: the workflow has no node "77", which COMFYUI_WORKFLOW_NODES names.',
    });
  });

  describe("a workflow that nobody waits for any longer", () => {
    const leave = async (id: string, running: readonly string[]) => {
      peer.reply(at("/prompt"), json({ prompt_id: id }));
      peer.always(at(`/history/${id}`), json({}));
      peer.always(at("/queue"), json({ queue_running: running.map((each) => [1, each, {}]) }));
      peer.always(at("/interrupt"), body(""));
      const gone = new AbortController();
      const work = engine("comfyui", changes()).generate!({ ...wish, signal: gone.signal });
      setTimeout(() => gone.abort(), 100);
      await expect(work).rejects.toMatchObject({ name: "AbortError" });
      expect(peer.requests.find((each) => each.body?.delete?.[0] === id)?.path).toBe("/queue");
      return peer.requests.filter((each) => at("/interrupt")(each) && each.body.prompt_id === id).length;
    };

    it("leaves the queue, and is interrupted when it runs", async () => {
      expect(await leave("waits", ["of-somebody-else"])).toBe(0);
      expect(await leave("runs", ["runs"])).toBe(1);
    });

    it("is taken back when its time is over", async () => {
      peer.reply(at("/prompt"), json({ prompt_id: "late" }));
      peer.always(at("/history/late"), json({}));
      peer.always(at("/queue"), json({ queue_running: [[1, "late", {}]] }));
      const late = engine("comfyui", { ...changes(), timeout: 1 }).generate!(wish);
      await expect(late).rejects.toMatchObject({ code: "timeout" });
      expect(asked("/interrupt")?.body).toEqual({ prompt_id: "late" });
    });
  });
});
