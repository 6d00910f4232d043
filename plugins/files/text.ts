import type { Readable } from "node:stream";

/** What was read of a text file. */
export interface ReadText {
  readonly content: string;
  /** True when the file went on behind what is kept. */
  readonly truncated: boolean;
}

/** Most characters kept of one file's text; a model's context holds a fraction of it. */
export const maxTextLength = 10_000_000;

/**
 * Decodes a text file: by its byte order mark, else as UTF-8, else as Windows-1252. Resolves to undefined
 * when the bytes are not text. Reads at most `limit` bytes; NUL characters are left out, databases refuse them.
 */
export async function readText(
  bytes: Readable,
  limit: number = maxTextLength,
): Promise<ReadText | undefined> {
  const { head, truncated } = await readHead(bytes, limit);
  const mark = byteOrderMark(head);
  if (mark !== undefined) {
    return { content: clean(new TextDecoder(mark).decode(head)), truncated };
  }
  // No text encoding without a byte order mark puts NUL bytes into a text.
  if (head.subarray(0, 8192).includes(0)) {
    return undefined;
  }
  return { content: clean(decode(head, truncated)), truncated };
}

async function readHead(bytes: Readable, limit: number): Promise<{ head: Buffer; truncated: boolean }> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of bytes as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size > limit) {
      break;
    }
  }
  const all = Buffer.concat(pieces, size);
  return size > limit ? { head: all.subarray(0, limit), truncated: true } : { head: all, truncated: false };
}

function byteOrderMark(head: Buffer): string | undefined {
  if (head.length >= 2 && head[0] === 0xff && head[1] === 0xfe) {
    return "utf-16le";
  }
  return head.length >= 2 && head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : undefined;
}

function decode(head: Buffer, truncated: boolean): string {
  try {
    // `stream` forgives a character that the limit cut in half.
    return new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: truncated });
  } catch {
    return new TextDecoder("windows-1252").decode(head);
  }
}

function clean(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
