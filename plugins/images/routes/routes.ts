import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ImageSettings } from "../config.ts";
import type { Gallery } from "../gallery.ts";
import type { Images, Made } from "../images.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { below, type Prefix } from "./prefix.ts";
import { EditForm, GalleryPage, GenerationForm, ImageModels, ImageOptions, MadePictures } from "./schema.ts";

export interface ImageRouteParts {
  readonly settings: ImageSettings;
  readonly images: Images;
  readonly gallery: Gallery;
}

const access = "permission:features.image_generation";
const fails = [400, 403, 404, 413, 429, 502, 503, 504];

/** Pictures for people and programs (contract §10). */
export function imageRoutes(prefix: Prefix, parts: ImageRouteParts) {
  return [...makingRoutes(prefix, parts), ...listRoutes(prefix, parts)];
}

function makingRoutes(prefix: Prefix, { images }: ImageRouteParts) {
  const finish = async (caller: Principal, made: Made) => {
    const ids = await images.keep(caller, made);
    images.announce(caller, made);
    return ids.map((id) => ({ url: `/api/v1/files/${id}/content` }));
  };
  return [
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/generations"),
        summary: "Make pictures; they become files of the caller",
        access,
        body: GenerationForm,
        returns: MadePictures,
        fails,
      },
      async ({ body, caller, request }) => {
        images.requireAllowed(caller, "generate");
        return await finish(caller, await images.make("generate", caller, body, request.signal));
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/edit"),
        summary: "Change pictures; the results become files of the caller",
        access,
        body: EditForm,
        returns: MadePictures,
        maxBody: 64 * 1024 * 1024,
        fails,
      },
      async ({ body: { image, ...wish }, caller, request }) => {
        images.requireAllowed(caller, "edit");
        const named = typeof image === "string" ? [image] : image;
        return await finish(
          caller,
          await images.make("edit", caller, { ...wish, images: named }, request.signal),
        );
      },
    ),
  ];
}

function listRoutes(prefix: Prefix, { images, gallery, settings }: ImageRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/models"),
        summary: "List the models of the engine that makes pictures",
        access: "user",
        returns: ImageModels,
        fails: [502, 503, 504],
      },
      async ({ request }) => {
        const engine = images.current("generate");
        if (engine === undefined || engine.missing().length > 0) {
          return [];
        }
        return (await engine.models(request.signal)).slice(0, 1_000).map(({ id, name }) => ({ id, name }));
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/options"),
        summary: "Tell what the caller may ask for: making and changing pictures, and how many at once",
        access,
        returns: ImageOptions,
      },
      () => ({
        can_generate: images.isReady("generate"),
        can_edit: images.isReady("edit"),
        max_count: settings.maxCount,
      }),
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/gallery"),
        summary: "List the pictures that were made for the caller, newest first",
        access,
        query: z.object({
          before: z.coerce.number().int().min(1).optional(),
          limit: z.coerce.number().int().min(1).max(100).default(40),
        }),
        returns: GalleryPage,
      },
      async ({ query: { before, limit }, caller }) => {
        const items = await gallery.list(caller, { before, limit });
        return { items, next: items.length === limit ? (items.at(-1)?.sequence ?? null) : null };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/config/url/verify"),
        summary: "Ask the chosen engine for its models, to see whether it answers",
        access: "admin",
        returns: z.literal(true),
        fails: [400, 429, 502, 503, 504],
      },
      async ({ request }) => {
        const engine = images.current("generate");
        if (engine === undefined) {
          throw new AppError("unavailable", `"${settings.engine}" is not available here.`);
        }
        await engine.models(request.signal);
        return true as const;
      },
    ),
  ];
}
