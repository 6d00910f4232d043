import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { createEngineForm } from "#kernel/upstream/engine-form.ts";
import { type ImageSettings, imageVariables } from "../config.ts";
import type { Images } from "../images.ts";
import type { ImageEngine } from "../service.ts";
import { below, type Prefix } from "./prefix.ts";
import { GenerationForm } from "./schema.ts";

export interface ConfigRouteParts {
  readonly settings: ImageSettings;
  readonly configuration: Pick<ConfigRegistry, "set">;
  readonly images: Images;
  engines(): readonly ImageEngine[];
}

const Form = z.object(
  Object.fromEntries(Object.values(imageVariables).map(({ name }) => [name, z.unknown().optional()])),
);
const View = z.looseObject({}).meta({ id: "ImageConfig" });

/** The secret and the address it belongs to. */
const addresses = {
  openaiKey: ["openaiUrl"],
  geminiKey: ["geminiUrl"],
  automaticAuth: ["automaticUrl"],
  comfyKey: ["comfyUrl"],
  editOpenaiKey: ["editOpenaiUrl"],
  editGeminiKey: ["editGeminiUrl"],
  editComfyKey: ["editComfyUrl"],
};

const Engine = z
  .object({
    id: z.string(),
    title: z.string(),
    variables: z.array(z.string()),
    /** Those that are needed and empty. */
    missing: z.array(z.string()),
    can_edit: z.boolean(),
  })
  .meta({ id: "ImageEngine" });

const Trial = z
  .object({ engine: z.string(), duration_ms: z.int(), image: z.string() })
  .meta({ id: "ImageTrial" });

/** Settings of the engines (contract §10). Secrets are shown masked and may come back so: promise S107. */
export function configRoutes(prefix: Prefix, { settings, configuration, images, engines }: ConfigRouteParts) {
  const form = createEngineForm({ variables: imageVariables, settings, addresses });
  return [
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/config"),
        summary: "Read how pictures are made",
        access: "admin",
        returns: View,
      },
      () => form.read(),
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/config/update"),
        summary: "Change how pictures are made; what is left out stays",
        access: "admin",
        body: Form,
        returns: View,
        fails: [400],
      },
      async ({ body, caller }) => {
        await configuration.set(form.toChanges(body), caller.userId);
        return form.read();
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/engines"),
        summary: "List the image engines, with the variables that each needs",
        access: "admin",
        returns: z.object({ can_generate: z.boolean(), can_edit: z.boolean(), engines: z.array(Engine) }),
      },
      () => ({
        can_generate: images.isReady("generate"),
        can_edit: images.isReady("edit"),
        engines: engines().map((engine) => ({
          id: engine.id,
          title: engine.title,
          variables: [...engine.variables],
          missing: [...engine.missing()],
          can_edit: engine.edit !== undefined,
        })),
      }),
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/try"),
        summary: "Make one picture that is not stored, also while pictures are switched off",
        access: "admin",
        body: GenerationForm.pick({ prompt: true }),
        returns: Trial,
        fails: [400, 429, 502, 503, 504],
      },
      async ({ body, caller, request: { signal } }) => {
        const from = performance.now();
        const { pictures, facts } = await images.make("generate", caller, body, signal);
        const [{ contentType, bytes } = { contentType: "", bytes: new Uint8Array() }] = pictures;
        return {
          engine: images.current("generate")?.title ?? facts.engine,
          duration_ms: Math.round(performance.now() - from),
          image: `data:${contentType};base64,${Buffer.from(bytes).toString("base64")}`,
        };
      },
    ),
  ];
}
