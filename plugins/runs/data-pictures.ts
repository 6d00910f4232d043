import { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import type { Files } from "#plugins/files/service.ts";
import type { OutputItem } from "./items.ts";

/** Smaller ones stay where they are. */
const minChars = 1024;
const inlineImage = /data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})/g;

/**
 * Stores pictures that a model wrote as base64 as files of the owner and puts their addresses in place
 * (configuration document, ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION). True when something changed.
 */
export async function storePictures(
  items: readonly OutputItem[],
  owner: Principal,
  files: Pick<Files, "create">,
): Promise<boolean> {
  let isChanged = false;
  for (const item of items) {
    for (const part of item.type === "message" ? item.content : []) {
      if (part.type === "output_text" && part.text.includes(";base64,")) {
        const text = await replacePictures(part.text, owner, files);
        isChanged ||= text !== part.text;
        part.text = text;
      }
    }
  }
  return isChanged;
}

async function replacePictures(
  text: string,
  owner: Principal,
  files: Pick<Files, "create">,
): Promise<string> {
  let result = "";
  let end = 0;
  for (const match of text.matchAll(inlineImage)) {
    const [uri, type = "", data = ""] = match;
    if (uri.length <= minChars) {
      continue;
    }
    const file = await files.create(owner, {
      filename: `picture.${type.slice("image/".length)}`,
      contentType: type,
      bytes: Readable.from([Buffer.from(data, "base64")]),
    });
    result += `${text.slice(end, match.index)}/api/v1/files/${file.id}/content`;
    end = match.index + uri.length;
  }
  return result + text.slice(end);
}
