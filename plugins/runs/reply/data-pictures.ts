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
/** A multiple of four, so that each piece is whole bytes. */
const pieceChars = 256 * 1024;
const start = /data:(image\/(?:png|jpeg|gif|webp|bmp|avif|svg\+xml));base64,/g;
/** Bounded: a long greedy match would overflow the stack of the matcher. */
const piece = /[A-Za-z0-9+/]{1,262144}/y;

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

/** A picture in a text: its type, where it stands, and where its base64 begins. */
interface Found {
  readonly type: string;
  readonly at: number;
  readonly dataAt: number;
  readonly end: number;
}

/** The pictures of a text, in order, small ones left out. */
export function findPictures(text: string): Found[] {
  const found: Found[] = [];
  start.lastIndex = 0;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const dataAt = start.lastIndex;
    const end = findEnd(text, dataAt);
    if (end - match.index > minChars) {
      start.lastIndex = end;
      found.push({ type: match[1] ?? "", at: match.index, dataAt, end });
    }
  }
  return found;
}

function findEnd(text: string, from: number): number {
  let end = from;
  piece.lastIndex = end;
  while (piece.test(text)) {
    end = piece.lastIndex;
  }
  const padding = /={0,2}/y;
  padding.lastIndex = end;
  padding.test(text);
  return padding.lastIndex || end;
}

async function replacePictures(
  text: string,
  reply: Reply,
  { owner, files, log, replies }: Stores & { readonly owner: Principal },
): Promise<string> {
  let result = "";
  let end = 0;
  for (const picture of findPictures(text)) {
    try {
      const { id } = await files.create(owner, {
        filename: `picture.${picture.type.slice("image/".length).replace("+xml", "")}`,
        contentType: picture.type,
        bytes: Readable.from(decode(text, picture)),
      });
      await replies.linkFiles(owner, reply, [{ id }]);
      result += `${text.slice(end, picture.at)}/api/v1/files/${id}/content`;
      end = picture.end;
    } catch (error) {
      log.warn(
        { err: error, chat: reply.chatId },
        "a picture of a reply could not be stored; it stays as it is",
      );
    }
  }
  return result + text.slice(end);
}

/** The bytes a piece at a time: a large picture must not hold others up. */
function* decode(text: string, { dataAt, end }: Found): Generator<Buffer> {
  for (let at = dataAt; at < end; at += pieceChars) {
    yield Buffer.from(text.slice(at, Math.min(at + pieceChars, end)), "base64");
  }
}
