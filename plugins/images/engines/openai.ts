import { AppError } from "#kernel/errors.ts";
import { fromBase64, requirePicture, toEnding } from "../picture-type.ts";
import type { EditWish, ImageEngine, Picture, PictureWish } from "../service.ts";
import {
  askForBytes,
  askForJson,
  type EngineCall,
  toBearer,
  toObjects,
  toServer,
} from "#kernel/upstream/engine-call.ts";
import { type EngineParts, toSize } from "./parts.ts";

const title = "The image API";

/**
 * The common format: `POST /images/generations` and `POST /images/edits` answer `{data: [{b64_json} | {url}]}`. Models
 * of the gpt-image family always answer base64 and know no `response_format`.
 */
export function createOpenAi({ egress, settings }: EngineParts): ImageEngine {
  const own = () => toServer({ url: settings.openaiUrl, key: settings.openaiKey });
  const forEdits = () =>
    toServer(
      { url: settings.editOpenaiUrl, key: settings.editOpenaiKey },
      { url: settings.openaiUrl, key: settings.openaiKey },
    );
  const ask = async (wish: PictureWish, call: Pick<EngineCall, "url" | "body"> & { key: string }) => {
    const timeoutMs = settings.timeout * 1000;
    const facts = { title, timeoutMs, signal: wish.signal };
    const { key, ...order } = call;
    const answer = await askForJson(egress, { ...facts, ...order, method: "POST", headers: toBearer(key) });
    const found = toObjects(answer["data"]).slice(0, wish.count);
    return await Promise.all(
      found.map(async ({ b64_json: data, url }): Promise<Picture> => {
        if (typeof url !== "string" || typeof data === "string") {
          return fromBase64(data, title);
        }
        const isOwn = URL.parse(url)?.origin === URL.parse(String(call.url))?.origin;
        const trust = isOwn ? ("operator" as const) : ("user" as const);
        return requirePicture(await askForBytes(egress, { ...facts, url, trust }), title);
      }),
    );
  };
  return {
    id: "openai",
    title: "Common format (OpenAI and compatible)",
    variables: [
      "IMAGES_OPENAI_API_BASE_URL",
      "IMAGES_OPENAI_API_KEY",
      "IMAGES_OPENAI_API_VERSION",
      "IMAGES_OPENAI_API_PARAMS",
    ],
    missing: () => (own().url === "" ? ["IMAGES_OPENAI_API_BASE_URL"] : []),
    models: async () => ["gpt-image-1", "dall-e-3", "dall-e-2"].map((id) => ({ id, name: id })),
    async generate(wish) {
      const { url, key } = own();
      const body = { ...toFields(wish, settings.model), ...settings.openaiParams };
      return await ask(wish, { url: toAddress(url, "generations", settings.openaiVersion), key, body });
    },
    async edit(wish) {
      const { url, key } = forEdits();
      const version = settings.editOpenaiUrl === "" ? settings.openaiVersion : settings.editOpenaiVersion;
      return await ask(wish, {
        url: toAddress(url, "edits", version),
        key,
        body: toForm(wish, toFields(wish, settings.editModel)),
      });
    },
  };
}

function toAddress(base: string, action: string, version: string): string {
  if (base === "") {
    throw new AppError("unavailable", `${title} has no address yet.`);
  }
  return `${base}/images/${action}${version === "" ? "" : `?api-version=${encodeURIComponent(version)}`}`;
}

function toFields(wish: PictureWish, ownModel: string): Record<string, unknown> {
  const model = wish.model ?? ownModel;
  return {
    ...(model !== "" && { model }),
    prompt: wish.negativePrompt ? `${wish.prompt}\n\nAvoid: ${wish.negativePrompt}` : wish.prompt,
    n: wish.count,
    ...(wish.size && { size: toSize(wish.size) }),
    ...(!model.startsWith("gpt-image") && { response_format: "b64_json" }),
  };
}

function toForm({ images }: EditWish, fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, String(value));
  }
  images.forEach((image, at) => {
    const file = new Blob([Buffer.from(image.bytes)], { type: image.contentType });
    // A list is what only newer models take.
    form.append(images.length === 1 ? "image" : "image[]", file, `picture-${at + 1}.${toEnding(image)}`);
  });
  return form;
}
