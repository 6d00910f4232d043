import { z } from "zod";

const prompt = z.string().min(1).max(32_000);
const shared = {
  prompt,
  model: z.string().max(300).nullish(),
  size: z.string().max(20).nullish(),
  n: z.int().min(1).max(10).default(1),
  steps: z.int().min(0).max(150).nullish(),
  negative_prompt: z.string().max(8_000).nullish(),
};

/** `POST /images/generations` (contract §10). */
export const GenerationForm = z.object(shared);

/** Twenty megabytes as base64, and the `data:` head. */
const image = z.string().min(1).max(28_000_000);

/** `POST /images/edit`: pictures are ids or addresses of files, web addresses or data URIs. */
export const EditForm = z.object({ ...shared, image: z.union([image, z.array(image).min(1).max(8)]) });

export const MadePictures = z.array(z.object({ url: z.string() })).meta({ id: "MadePictures" });

export const ImageModels = z
  .array(z.object({ id: z.string(), name: z.string() }))
  .meta({ id: "ImageModels" });

export const ImageOptions = z
  .object({
    /** Switched on, with an engine that has all that it needs. */
    can_generate: z.boolean(),
    can_edit: z.boolean(),
    /** Most pictures of one request. */
    max_count: z.int(),
  })
  .meta({ id: "ImageOptions" });

export const GalleryPage = z
  .object({
    items: z.array(
      z.object({
        /** Id of the file. */
        id: z.string(),
        url: z.string(),
        kind: z.enum(["generate", "edit"]),
        prompt: z.string(),
        engine: z.string(),
        model: z.string(),
        /** Such as 512x512; empty where the engine chose. */
        size: z.string(),
        /** Unix seconds. */
        created_at: z.int(),
        sequence: z.int(),
      }),
    ),
    /** The value of `before` for the next page; null at the end. */
    next: z.int().nullable(),
  })
  .meta({ id: "ImageGallery" });
