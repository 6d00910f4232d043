import { Readable } from "node:stream";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import { createFairQueue } from "#kernel/fair-queue.ts";
import type { Files } from "#plugins/files/service.ts";
import { findSizeProblem, type ImageSettings } from "./config.ts";
import { toEnding } from "./picture-type.ts";
import type { Sources } from "./picture-sources.ts";
import type { ImageEngine, Picture, PictureWish } from "./service.ts";
import type { Gallery, MadeFacts } from "./gallery.ts";

export type Kind = "generate" | "edit";

/** A request for pictures; members that are left out follow the settings. */
export interface Wish {
  readonly prompt: string;
  readonly model?: string | null | undefined;
  /** Such as 512x512, or auto. */
  readonly size?: string | null | undefined;
  readonly n?: number | undefined;
  readonly steps?: number | null | undefined;
  readonly negative_prompt?: string | null | undefined;
  /** Pictures that are to be changed: ids or addresses of files, web addresses, data URIs. */
  readonly images?: readonly string[];
}

/** Pictures with what led to them. */
export interface Made {
  readonly pictures: readonly Picture[];
  readonly facts: MadeFacts;
}

export interface ImagesParts {
  readonly settings: ImageSettings;
  engines(): readonly ImageEngine[];
  readonly sources: Sources;
  readonly files: Pick<Files, "create">;
  readonly gallery: Gallery;
  readonly events: Pick<Events, "announce">;
}

export type Images = ReturnType<typeof createImages>;

const maxPrompt = 32_000;
const maxImages = 8;

/** Makes and changes pictures within the settings' limits (contract §10). */
export function createImages(parts: ImagesParts) {
  const { settings, sources } = parts;
  const inTurn = createFairQueue(() => settings.concurrent);
  const current = (kind: Kind) => {
    const id = kind === "edit" ? settings.editEngine : settings.engine;
    return parts.engines().find((engine) => engine.id === id);
  };
  const isOn = (kind: Kind) => (kind === "edit" ? settings.editEnabled : settings.enabled);
  const requireEngine = (kind: Kind): ImageEngine => {
    const engine = current(kind);
    if (engine?.[kind] === undefined) {
      const able = parts.engines().filter((each) => each[kind] !== undefined);
      throw new AppError(
        "unavailable",
        `The chosen engine cannot ${kind} pictures. Available are ${able.map(({ id }) => id).join(", ")}.`,
      );
    }
    const [missing] = engine.missing();
    if (missing !== undefined) {
      throw new AppError("unavailable", `${engine.title} needs ${missing}, which is not set.`);
    }
    return engine;
  };

  const make = async (kind: Kind, principal: Principal, wish: Wish, signal: AbortSignal): Promise<Made> => {
    const engine = requireEngine(kind);
    const order = toOrder(wish, kind, settings, signal);
    const images = kind === "edit" ? await toImages(wish, { principal, sources, signal }) : [];
    const draw = () => (kind === "edit" ? engine.edit!({ ...order, images }) : engine.generate!(order));
    const pictures = await inTurn(principal.userId, draw, signal);
    if (pictures.length === 0) {
      throw new AppError("upstream", `${engine.title} answered without a picture.`);
    }
    const model = order.model ?? (kind === "edit" ? settings.editModel : settings.model);
    return {
      pictures,
      facts: { kind, prompt: order.prompt, engine: engine.id, model, size: toSizeText(order) },
    };
  };

  return {
    current,
    /** True when people may be offered it: switched on, with an engine that has all settings it needs. */
    isReady: (kind: Kind) => {
      const engine = current(kind);
      return isOn(kind) && engine?.[kind] !== undefined && engine.missing().length === 0;
    },
    /** Throws `forbidden` without the permission or while it is switched off. */
    requireAllowed(principal: Principal, kind: Kind): void {
      if (!hasPermission(principal, "features.image_generation")) {
        throw new AppError("forbidden", "Pictures need the permission features.image_generation.");
      }
      if (!isOn(kind)) {
        throw new AppError(
          "forbidden",
          `${kind === "edit" ? "ENABLE_IMAGE_EDIT" : "ENABLE_IMAGE_GENERATION"} is off.`,
        );
      }
    },
    /** Throws `invalid` for what the wish says, `unavailable` without a usable engine, and what the engine throws. */
    make,
    /** Stores pictures as files of the person, with a place in their gallery. */
    async keep(principal: Principal, { pictures, facts }: Made): Promise<string[]> {
      const ids: string[] = [];
      for (const [at, picture] of pictures.entries()) {
        const { id } = await parts.files.create(principal, {
          filename: toName(facts.prompt, picture, at),
          contentType: picture.contentType,
          bytes: Readable.from([Buffer.from(picture.bytes)]),
        });
        await parts.gallery.add(principal, id, facts);
        ids.push(id);
      }
      return ids;
    },
    /** Tells of what was made (appendix A10); the prompt stays out of it. */
    announce({ userId: id, name, email, role }: Principal, { facts, pictures }: Made): void {
      parts.events.announce(facts.kind === "edit" ? "image.edited" : "image.generated", {
        actor: { id, name, email, role },
        subject: null,
        data: { engine: facts.engine, model: facts.model, count: pictures.length },
      });
    },
  };
}

/** A file name that says what the picture shows. */
export function toName(prompt: string, picture: Picture, at: number): string {
  const words = prompt
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.slice(0, 6)
    .join("-")
    .slice(0, 60);
  return `${words || "picture"}${at === 0 ? "" : `-${at + 1}`}.${toEnding(picture)}`;
}

function toOrder(wish: Wish, kind: Kind, settings: ImageSettings, signal: AbortSignal): PictureWish {
  const prompt = wish.prompt.trim();
  if (prompt === "" || prompt.length > maxPrompt) {
    throw new AppError("invalid", `prompt: must be a text of 1 to ${maxPrompt} characters.`);
  }
  const count = wish.n ?? 1;
  if (!Number.isInteger(count) || count < 1 || count > settings.maxCount) {
    throw new AppError("invalid", `n: must be a whole number from 1 to ${settings.maxCount}.`);
  }
  const steps = wish.steps ?? settings.steps;
  if (!Number.isInteger(steps) || steps < 0 || steps > 150) {
    throw new AppError("invalid", "steps: must be a whole number from 0 to 150.");
  }
  const size = wish.size ?? (kind === "edit" ? settings.editSize : settings.size);
  const problem = findSizeProblem(size);
  if (problem !== undefined) {
    throw new AppError("invalid", `size: ${problem}.`);
  }
  const [width = 0, height = 0] = size.split("x").map(Number);
  return {
    prompt,
    count,
    signal,
    negativePrompt: wish.negative_prompt?.trim() || undefined,
    model: wish.model || undefined,
    ...(steps > 0 && { steps }),
    ...(width > 0 && height > 0 && { size: { width, height } }),
  };
}

const toSizeText = ({ size }: PictureWish) => (size ? `${size.width}x${size.height}` : "");

async function toImages(
  { images = [] }: Wish,
  { principal, sources, signal }: { principal: Principal; sources: Sources; signal: AbortSignal },
): Promise<Picture[]> {
  if (images.length === 0 || images.length > maxImages) {
    throw new AppError("invalid", `image: must be one to ${maxImages} pictures.`);
  }
  const found: Picture[] = [];
  for (const image of images) {
    found.push(await sources.read(principal, image, signal));
  }
  return found;
}
