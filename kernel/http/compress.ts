import type { Transform } from "node:stream";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import Negotiator from "negotiator";

export type Encoding = "zstd" | "br" | "gzip";

/**
 * Chooses how a response of `size` bytes (undefined: not known) is compressed; undefined means not at all.
 * Document 3, ENABLE_COMPRESSION_MIDDLEWARE: over 500 bytes, compressible types, never a stream of events.
 */
export function chooseEncoding(
  acceptEncoding: string | undefined,
  contentType: string | undefined,
  size: number | undefined,
): Encoding | undefined {
  if (
    !acceptEncoding ||
    !contentType ||
    (size !== undefined && size <= 500) ||
    !isCompressible(contentType)
  ) {
    return undefined;
  }
  // Browsers send a handful of different values, each of them with every request.
  let chosen = negotiated.get(acceptEncoding);
  if (chosen === undefined) {
    chosen = negotiate(acceptEncoding);
    if (negotiated.size >= 64) {
      negotiated.clear();
    }
    negotiated.set(acceptEncoding, chosen);
  }
  return chosen === "identity" ? undefined : chosen;
}

/** Compresses a complete body on zlib's own threads. */
export function compressBuffer(encoding: Encoding, buffer: Uint8Array): Promise<Buffer> {
  switch (encoding) {
    case "zstd":
      return zstd(buffer, zstdOptions);
    case "br":
      return brotli(buffer, brotliOptions(buffer.byteLength));
    case "gzip":
      return gzip(buffer, gzipOptions);
  }
}

/**
 * A transform that compresses a body as it passes. What is sent piece by piece is large, and somebody waits for its end:
 * the quickest levels take half the time or less for a fifth more bytes.
 */
export function compressStream(encoding: Encoding): Transform {
  switch (encoding) {
    case "zstd":
      return zlib.createZstdCompress({ params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } });
    case "br":
      return zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } });
    case "gzip":
      return zlib.createGzip({ level: 1 });
  }
}

const zstd = promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress);
const brotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip);

// Answers are compressed once and sent once: the highest levels would cost more time than they save on the wire.
const gzipOptions: zlib.ZlibOptions = { level: 5 };
const zstdOptions: zlib.ZstdOptions = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 } };

function brotliOptions(size: number): zlib.BrotliOptions {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;
  return { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_SIZE_HINT]: size } };
}

const preferred = ["zstd", "br", "gzip"];
const negotiated = new Map<string, Encoding | "identity">();

/** The published types do not know the second argument: what to take among encodings the client likes equally. */
interface EncodingNegotiator {
  encodings(available: string[], options?: { preferred: string[] }): string[];
}

function negotiate(acceptEncoding: string): Encoding | "identity" {
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { "accept-encoding": acceptEncoding } });
  const [best] = negotiator.encodings([...preferred, "identity"], { preferred });
  return preferred.includes(best ?? "") ? (best as Encoding) : "identity";
}

/** Text that is written bit by bit; a compressor would hold it back until its block is full. */
const streamed = new Set(["text/event-stream", "application/x-ndjson", "application/jsonl"]);
const compressible =
  /^(?:text\/.+|(?:application|image)\/(?:.+\+)?(?:json|xml)|application\/(?:javascript|manifest\+json|wasm|x-javascript|yaml)|image\/(?:bmp|x-icon)|font\/(?:otf|ttf))$/;

function isCompressible(contentType: string): boolean {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  return !streamed.has(type) && compressible.test(type);
}
