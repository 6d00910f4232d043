import type { ImageEngine } from "../service.ts";
import { createAutomatic1111 } from "./automatic1111.ts";
import { createComfyUi } from "./comfyui.ts";
import { createGemini } from "./gemini.ts";
import { createOpenAi } from "./openai.ts";
import type { EngineParts } from "./parts.ts";

/** The engines of the platform, in the order in which people see them. */
export function createEngines(parts: EngineParts): readonly ImageEngine[] {
  return [createOpenAi(parts), createGemini(parts), createAutomatic1111(parts), createComfyUi(parts)];
}
