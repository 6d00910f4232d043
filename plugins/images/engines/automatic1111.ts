import { AppError } from "#kernel/errors.ts";
import { fromBase64 } from "../picture-type.ts";
import type { ImageEngine, PictureWish } from "../service.ts";
import { askForJson, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import type { EngineParts } from "./parts.ts";

const title = "AUTOMATIC1111";

/** `POST /sdapi/v1/txt2img` and `img2img` answer `{images: [base64]}`. The model is chosen for one request, not for all. */
export function createAutomatic1111({ egress, settings }: EngineParts): ImageEngine {
  const ask = async (path: string, signal: AbortSignal, body?: Record<string, unknown>) => {
    const { url, key } = toServer({ url: settings.automaticUrl, key: settings.automaticAuth });
    if (url === "") {
      throw new AppError("unavailable", `${title} has no address yet.`);
    }
    return await askForJson(egress, {
      title,
      url: `${url}/sdapi/v1/${path}`,
      ...(body && { method: "POST", body }),
      headers: key === "" ? {} : { authorization: `Basic ${Buffer.from(key).toString("base64")}` },
      timeoutMs: settings.timeout * 1000,
      signal,
    });
  };
  const draw = async (path: string, wish: PictureWish, more: Record<string, unknown>) => {
    const answer = await ask(path, wish.signal, { ...toFields(wish), ...settings.automaticParams, ...more });
    const images = Array.isArray(answer["images"]) ? answer["images"] : [];
    // Some versions put a sheet of all pictures behind them.
    return images.slice(0, wish.count).map((image) => fromBase64(image, title));
  };
  const withModel = (wish: PictureWish, model: string) => ({
    ...wish,
    model: wish.model || model || undefined,
  });
  return {
    id: "automatic1111",
    title,
    variables: ["AUTOMATIC1111_BASE_URL", "AUTOMATIC1111_API_AUTH", "AUTOMATIC1111_PARAMS"],
    missing: () => (settings.automaticUrl === "" ? ["AUTOMATIC1111_BASE_URL"] : []),
    async models(signal) {
      const found = toObjects(await ask("sd-models", signal));
      return found.map(({ title: id, model_name: name }) => ({ id: String(id), name: String(name ?? id) }));
    },
    generate: (wish) => draw("txt2img", withModel(wish, settings.model), {}),
    edit: (wish) =>
      draw("img2img", withModel(wish, settings.editModel), {
        init_images: wish.images.map(({ bytes }) => Buffer.from(bytes).toString("base64")),
      }),
  };
}

function toFields({
  prompt,
  negativePrompt,
  count,
  size,
  steps,
  model,
}: PictureWish): Record<string, unknown> {
  return {
    prompt,
    batch_size: count,
    ...(size && { width: size.width, height: size.height }),
    ...(steps !== undefined && { steps }),
    ...(negativePrompt && { negative_prompt: negativePrompt }),
    ...(model && { override_settings: { sd_model_checkpoint: model } }),
  };
}
