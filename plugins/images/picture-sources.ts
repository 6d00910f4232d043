import type { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Files } from "#plugins/files/service.ts";
import { toPicture } from "./picture-type.ts";
import type { Picture } from "./service.ts";

/** Finds pictures that are to be changed. */
export interface Sources {
  /**
   * Reads a picture by the id or address of a file that the person may read, a web address or a data URI. Throws
   * `not_found` for foreign files, `forbidden` for private addresses, `too_large` and `invalid` for the rest.
   */
  read(principal: Principal, source: string, signal: AbortSignal): Promise<Picture>;
}

const mostBytes = 20 * 1024 * 1024;
const loadMs = 30_000;
const file =
  /^(?:(?:https?:\/\/[^/]+)?\/api\/v1\/files\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/content)?$/i;

export function createSources({
  files,
  egress,
}: {
  readonly files: Pick<Files, "load" | "open">;
  readonly egress: Pick<Egress, "fetch">;
}): Sources {
  return {
    async read(principal, source, signal) {
      const bytes = await readBytes(principal, source, signal);
      const picture = toPicture(bytes);
      if (picture === undefined) {
        throw new AppError("invalid", "image: is no PNG, JPEG, GIF or WebP picture.");
      }
      return picture;
    },
  };

  async function readBytes(principal: Principal, source: string, signal: AbortSignal): Promise<Buffer> {
    const [, id] = file.exec(source) ?? [];
    if (id !== undefined) {
      return await gather(await files.open(await files.load(principal, id, "read")));
    }
    if (source.startsWith("data:")) {
      const bytes = Buffer.from(source.slice(source.indexOf(",") + 1), "base64");
      return requireSize(bytes, bytes.length);
    }
    if (!/^https?:\/\//i.test(source)) {
      throw new AppError("invalid", "image: must be the id of a file, a web address or a data URI.");
    }
    const response = await egress.fetch(source, {
      trust: "user",
      signal,
      timeoutMs: loadMs,
      maxBytes: mostBytes,
    });
    if (!response.ok) {
      await response.body?.cancel().catch(() => {});
      throw new AppError("invalid", `image: the address answered with status ${response.status}.`);
    }
    return Buffer.from(await response.arrayBuffer());
  }
}

async function gather(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    size += piece.length;
    pieces.push(requireSize(piece, size));
  }
  return Buffer.concat(pieces);
}

function requireSize<T>(bytes: T, size: number): T {
  if (size > mostBytes) {
    throw new AppError("too_large", "image: is larger than 20 MB.");
  }
  return bytes;
}
