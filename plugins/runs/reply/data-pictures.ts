import { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import type { Logger } from "#kernel/log.ts";
import type { Replies } from "#plugins/chats/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Reply } from "./reply.ts";

interface Stores {
  readonly replies: Pick<Replies, "linkFiles">;
  readonly files: Pick<Files, "create">;
  readonly log: Logger;
}

/** Smaller ones stay where they are. */
const minChars = 1024;
const inlineImage = /data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})/g;

/**
 * Stores pictures that a model wrote as base64 as files of the owner and puts their addresses in place
 * (configuration document, ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION). They are files of the chat as well. One
 * that cannot be stored stays where it is. Never rejects.
 */
export async function storePictures(reply: Reply, owner: Principal, stores: Stores): Promise<void> {
  for (const item of reply.output.items) {
    for (const part of item.type === "message" ? item.content : []) {
      if (part.type === "output_text" && part.text.includes(";base64,")) {
        part.text = await replacePictures(part.text, reply, { ...stores, owner });
      }
    }
  }
}

async function replacePictures(
  text: string,
  reply: Reply,
  { owner, files, log, replies }: Stores & { readonly owner: Principal },
): Promise<string> {
  let result = "";
  let end = 0;
  for (const match of text.matchAll(inlineImage)) {
    const [uri, type = "", data = ""] = match;
    if (uri.length <= minChars) {
      continue;
    }
    try {
      const { id } = await files.create(owner, {
        filename: `picture.${type.slice("image/".length)}`,
        contentType: type,
        bytes: Readable.from([Buffer.from(data, "base64")]),
      });
      await replies.linkFiles(owner, reply, [{ id }]);
      result += `${text.slice(end, match.index)}/api/v1/files/${id}/content`;
      end = match.index + uri.length;
    } catch (error) {
      log.warn(
        { err: error, chat: reply.chatId },
        "a picture of a reply could not be stored; it stays as it is",
      );
    }
  }
  return result + text.slice(end);
}
