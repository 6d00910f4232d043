import { AppError } from "#kernel/errors.ts";
import { fromBase64 } from "../picture-type.ts";
import type { EditWish, ImageEngine, Picture, PictureWish } from "../service.ts";
import { askForJson, type EngineServer, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import { type EngineParts, toSize } from "./parts.ts";

const title = "Gemini";
const [imagen, flash] = ["imagen-4.0-generate-001", "gemini-2.5-flash-image"];

/**
 * `POST /models/<model>:predict` answers `{predictions: [{bytesBase64Encoded}]}`, `:generateContent` one picture a call
 * as `{candidates: [{content: {parts: [{inlineData: {data}}]}}]}`.
 */
export function createGemini({ egress, settings }: EngineParts): ImageEngine {
  const own = () => toServer({ url: settings.geminiUrl, key: settings.geminiKey });
  const forEdits = () =>
    toServer(
      { url: settings.editGeminiUrl, key: settings.editGeminiKey },
      { url: settings.geminiUrl, key: settings.geminiKey },
    );
  const ask = async (
    server: EngineServer,
    method: string,
    wish: PictureWish,
    body: Record<string, unknown>,
  ) =>
    await askForJson(egress, {
      title,
      url: `${server.url}/models/${method}`,
      method: "POST",
      headers: server.key === "" ? {} : { "x-goog-api-key": server.key },
      body,
      timeoutMs: settings.timeout * 1000,
      signal: wish.signal,
    });
  const generateContent = async (
    server: EngineServer,
    model: string,
    wish: PictureWish & Partial<EditWish>,
  ) => {
    const body = toContents(wish);
    const calls = Array.from({ length: wish.count }, () =>
      ask(server, `${encodeURIComponent(model)}:generateContent`, wish, body),
    );
    return (await Promise.all(calls)).map(toInlinePicture);
  };
  return {
    id: "gemini",
    title: "Gemini",
    variables: ["IMAGES_GEMINI_API_BASE_URL", "IMAGES_GEMINI_API_KEY", "IMAGES_GEMINI_ENDPOINT_METHOD"],
    missing: () => [
      ...(settings.geminiUrl === "" ? ["IMAGES_GEMINI_API_BASE_URL"] : []),
      ...(settings.geminiKey === "" ? ["IMAGES_GEMINI_API_KEY"] : []),
    ],
    models: async () => [imagen, flash].map((id) => ({ id, name: id })),
    async generate(wish) {
      const model = wish.model || settings.model || imagen;
      const method = settings.geminiMethod || (model.startsWith("imagen") ? "predict" : "generateContent");
      if (method === "generateContent") {
        return await generateContent(own(), model, wish);
      }
      const answer = await ask(own(), `${encodeURIComponent(model)}:predict`, wish, {
        instances: [{ prompt: toWords(wish) }],
        parameters: { sampleCount: wish.count, outputOptions: { mimeType: "image/png" } },
      });
      return toObjects(answer["predictions"]).map((found) => fromBase64(found["bytesBase64Encoded"], title));
    },
    edit: (wish) => generateContent(forEdits(), wish.model || settings.editModel || flash, wish),
  };
}

function toWords({ prompt, negativePrompt, size }: PictureWish): string {
  return [
    prompt,
    ...(negativePrompt ? [`Avoid: ${negativePrompt}`] : []),
    ...(size ? [`Size: ${toSize(size)}`] : []),
  ].join("\n\n");
}

function toContents(wish: PictureWish & Partial<EditWish>): Record<string, unknown> {
  const images = (wish.images ?? []).map(({ contentType, bytes }) => ({
    inlineData: { mimeType: contentType, data: Buffer.from(bytes).toString("base64") },
  }));
  return {
    contents: [{ role: "user", parts: [{ text: toWords(wish) }, ...images] }],
    generationConfig: { responseModalities: ["TEXT", "IMAGE"] },
  };
}

function toInlinePicture(answer: Readonly<Record<string, unknown>>): Picture {
  const [candidate] = toObjects(answer["candidates"]);
  const parts = toObjects((candidate?.["content"] as { parts?: unknown } | undefined)?.parts);
  const found = parts
    .map(({ inlineData }) => (inlineData as { data?: unknown } | undefined)?.data)
    .find(Boolean);
  if (found === undefined) {
    const words = parts.map(({ text }) => text).find((text) => typeof text === "string");
    throw new AppError(
      "invalid",
      `${title} made no picture.${words ? ` It says: ${String(words).slice(0, 400)}` : ""}`,
    );
  }
  return fromBase64(found, title);
}
