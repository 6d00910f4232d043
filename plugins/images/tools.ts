import { AppError } from "#kernel/errors.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { type ToolFile, type ToolOutput, toolOutput } from "#kernel/tools/output.ts";
import { defineTool, type Tool, type ToolContext, type ToolSource } from "#kernel/tools/tool.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { ImageSettings } from "./config.ts";
import type { Gallery } from "./gallery.ts";
import { type Images, type Made, toName, type Wish } from "./images.ts";

export interface ImageToolParts {
  readonly settings: ImageSettings;
  readonly images: Images;
  readonly gallery: Gallery;
  readonly chats: Pick<Chats, "branch">;
}

/** The category `image_generation` of built-in tools; both need the feature of the request and the permission (contract §3.6). */
const common = {
  category: "image_generation",
  feature: "image_generation",
  permission: "features.image_generation",
} as const;

/** Offers `generate_image` and `edit_image` as far as they are on and their engines have what they need. */
export function createImageTools(parts: ImageToolParts): ToolSource {
  return {
    id: "images",
    granted: async () => [],
    async select() {
      // Pictures of this reply, which its chat does not list yet.
      const made: string[] = [];
      return [
        ...(parts.images.isReady("generate") ? [generateTool(parts, made)] : []),
        ...(parts.images.isReady("edit") ? [editTool(parts, made)] : []),
      ];
    },
  };
}

function properties({ settings }: ImageToolParts) {
  return {
    prompt: { type: "string", description: "What the picture shows: subject, style, light, composition" },
    size: {
      type: "string",
      description: "Width and height such as 1024x1024; leave it out for the usual one",
    },
    n: {
      type: "integer",
      minimum: 1,
      maximum: settings.maxCount,
      default: 1,
      description: "Number of pictures",
    },
  };
}

function generateTool(parts: ImageToolParts, made: string[]): Tool {
  return defineTool({
    ...common,
    id: "images.generate_image",
    title: "Make a picture",
    spec: {
      name: "generate_image",
      description: "Makes pictures from a description and shows them to the user.",
      parameters: { type: "object", properties: properties(parts), required: ["prompt"] },
    },
    run: async (given, { principal, signal }) =>
      await show(await parts.images.make("generate", principal, toWish(given), signal), {
        parts,
        principal,
        made,
      }),
  });
}

function editTool(parts: ImageToolParts, made: string[]): Tool {
  return defineTool({
    ...common,
    id: "images.edit_image",
    title: "Change a picture",
    spec: {
      name: "edit_image",
      description: "Changes pictures as described and shows the result to the user.",
      parameters: {
        type: "object",
        properties: {
          ...properties(parts),
          images: {
            type: "array",
            items: { type: "string" },
            description: "Ids or addresses of the pictures; leave it out for the newest picture of the chat",
          },
        },
        required: ["prompt"],
      },
    },
    async run(given, context) {
      const named = Array.isArray(given["images"]) ? given["images"].map(String) : [];
      const images = named.length > 0 ? named : await newestPicture(parts, context, made);
      const wish = { ...toWish(given), images };
      const { principal, signal } = context;
      return await show(await parts.images.make("edit", principal, wish, signal), { parts, principal, made });
    },
  });
}

function toWish({ prompt, size, n }: Readonly<Record<string, unknown>>): Wish {
  return {
    prompt: typeof prompt === "string" ? prompt : "",
    size: typeof size === "string" && size !== "" ? size : undefined,
    n: n === undefined || n === null ? undefined : Number(n),
  };
}

interface Showing {
  readonly parts: Pick<ImageToolParts, "gallery" | "images">;
  readonly principal: Principal;
  /** Gathers the ids under which the pictures are stored. */
  readonly made: string[];
}

/** The pictures as files of the person and of the chat, each with its place in the gallery. */
export async function show(result: Made, { parts, principal, made }: Showing): Promise<ToolOutput> {
  const { pictures, facts } = result;
  const files = pictures.map((picture, at): ToolFile => ({
    name: toName(facts.prompt, picture, at),
    contentType: picture.contentType,
    bytes: picture.bytes,
    async onStored(id) {
      made.push(id);
      await parts.gallery.add(principal, id, facts);
    },
  }));
  parts.images.announce(principal, result);
  const count = pictures.length === 1 ? "The picture is" : `${pictures.length} pictures are`;
  return toolOutput({
    value: { status: "success", message: `${count} shown to the user. Do not show an address of it again.` },
    files,
  });
}

/** The id of the picture that people see last in the chat. Throws `invalid` where there is none. */
async function newestPicture(
  { chats }: ImageToolParts,
  { chatId, messageId }: ToolContext,
  made: readonly string[],
): Promise<string[]> {
  const last = made.at(-1);
  if (last !== undefined) {
    return [last];
  }
  const branch = chatId && messageId ? await chats.branch(chatId, messageId) : [];
  const files = branch.flatMap((message) =>
    Array.isArray(message["files"]) ? (message["files"] as unknown[]) : [],
  );
  const newest = files.map(toPictureSource).findLast((source) => source !== undefined);
  if (newest === undefined) {
    throw new AppError("invalid", "images: the chat has no picture yet; name one, or make one first.");
  }
  return [newest];
}

function toPictureSource(entry: unknown): string | undefined {
  const { type, id, url, content_type: contentType } = (entry ?? {}) as Record<string, unknown>;
  const isPicture = type === "image" || String(contentType ?? "").startsWith("image/");
  const source = [id, url].find((value) => typeof value === "string" && value !== "");
  return isPicture ? (source as string | undefined) : undefined;
}
