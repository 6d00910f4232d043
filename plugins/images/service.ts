import { defineSlot } from "#kernel/service.ts";

/** A picture's bytes with their type, found out by looking at them. */
export interface Picture {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A wish for pictures. */
export interface PictureWish {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  /** The engine's own choice when left out. */
  readonly model?: string | undefined;
  /** In pixels; the engine's own choice when left out. */
  readonly size?: { readonly width: number; readonly height: number } | undefined;
  readonly count: number;
  /** The engine's own choice when left out. */
  readonly steps?: number | undefined;
  readonly signal: AbortSignal;
}

/** A wish for changes of pictures. */
export interface EditWish extends PictureWish {
  /** At least one. */
  readonly images: readonly Picture[];
}

/** Makes pictures; administrators choose one by its id (`IMAGE_GENERATION_ENGINE`, `IMAGE_EDIT_ENGINE`). */
export interface ImageEngine {
  readonly id: string;
  /** Its name, for people. */
  readonly title: string;
  /** Names of the variables that it reads, in the order in which people fill them in. */
  readonly variables: readonly string[];
  /** Those of `variables` that are needed and empty now. */
  missing(): readonly string[];
  /** Models that people may choose from; empty where the engine has no such list. */
  models(signal: AbortSignal): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** Throws `invalid` with the engine's own words for a refused wish, else `upstream`, `timeout` or `rate_limited`. */
  generate?(wish: PictureWish): Promise<readonly Picture[]>;
  edit?(wish: EditWish): Promise<readonly Picture[]>;
}

/** Image engines beside those of the platform; an id that is taken is refused when the process starts. */
export const imageEngines = defineSlot<ImageEngine>("images.engines");
