import { expect } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

/** One pixel, as a PNG. */
export const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const pixelText = pixel.toString("base64");

export const isGeneration = ({ path }: { path: string }) => path.endsWith("/images/generations");
export const isEdit = ({ path }: { path: string }) => path.endsWith("/images/edits");

/** A platform with a scripted engine of the common format that makes one pixel. */
export interface ImageStage {
  readonly stage: RunStage;
  readonly engine: Upstream;
  set(values: Record<string, unknown>): Promise<void>;
  /** Puts the engine and the settings back. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function startImageStage(): Promise<ImageStage> {
  const engine = await startUpstream();
  const stage = await startRunStage({
    env: {
      ENV: "dev",
      ENABLE_IMAGE_GENERATION: "true",
      ENABLE_IMAGE_EDIT: "true",
      IMAGES_OPENAI_API_BASE_URL: `${engine.origin}/v1/`,
      IMAGES_OPENAI_API_KEY: "picture-key",
      OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
    },
  });
  const set = async (values: Record<string, unknown>) => {
    const answer = await stage.user.call("POST /api/v1/configs/settings", values);
    expect(answer.status, answer.text).toBe(200);
  };
  return {
    stage,
    engine,
    set,
    async reset() {
      engine.always(isGeneration, json({ data: [{ b64_json: pixelText }] }));
      engine.always(isEdit, json({ data: [{ b64_json: pixelText }] }));
      await set({
        ENABLE_IMAGE_GENERATION: true,
        ENABLE_IMAGE_EDIT: true,
        IMAGE_GENERATION_ENGINE: "openai",
        IMAGE_EDIT_ENGINE: "openai",
        IMAGE_SIZE: "512x512",
        IMAGE_STEPS: 50,
        IMAGE_GENERATION_TIMEOUT_SECONDS: 300,
      });
    },
    async close() {
      await stage.close();
      await engine.close();
    },
  };
}
