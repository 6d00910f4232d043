import { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Reply } from "./reply.ts";

interface Stores {
  readonly chats: Pick<Chats, "linkFiles">;
  readonly files: Pick<Files, "create">;
}

/** Smaller ones stay where they are. */
const minChars = 1024;
const inlineImage = /data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})/g;

/**
 * Stores pictures that a model wrote as base64 as files of the owner and puts their addresses in place
 * (configuration document, ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION). They are files of the chat as well.
 */
export async function storePictures(reply: Reply, owner: Principal, { chats, files }: Stores): Promise<void> {
  for (const item of reply.output.items) {
    for (const part of item.type === "message" ? item.content : []) {
      if (part.type === "output_text" && part.text.includes(";base64,")) {
        const { text, entries } = await replacePictures(part.text, owner, files);
        part.text = text;
        await chats.linkFiles(owner, reply, entries);
      }
    }
  }
}

async function replacePictures(
  text: string,
  owner: Principal,
  files: Stores["files"],
): Promise<{ text: string; entries: { id: string }[] }> {
  const entries: { id: string }[] = [];
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
    entries.push({ id: file.id });
    result += `${text.slice(end, match.index)}/api/v1/files/${file.id}/content`;
    end = match.index + uri.length;
  }
  return { text: result + text.slice(end), entries };
}
