import { promisify } from "node:util";
import * as zlib from "node:zlib";
import Negotiator from "negotiator";

export type Encoding = "zstd" | "br" | "gzip";

/**
 * Chooses how a response of `size` bytes (undefined: not known) is compressed; undefined means not at all.
 * Document 3, ENABLE_COMPRESSION_MIDDLEWARE: over 500 bytes, compressible types, never a stream of events. `isStream`
 * says that it is sent piece by piece.
 */
export function chooseEncoding(
  acceptEncoding: string | undefined,
  contentType: string | undefined,
  size: number | undefined,
  { isStream = false } = {},
): Encoding | undefined {
  if (
    !acceptEncoding ||
    !contentType ||
    (size !== undefined && size <= 500) ||
    !isCompressible(contentType)
  ) {
    return undefined;
  }
  const { preferred, known } = isStream ? forStreams : forBodies;
  // Browsers send a handful of different values, each of them with every request.
  let chosen = known.get(acceptEncoding);
  if (chosen === undefined) {
    chosen = negotiate(acceptEncoding, preferred);
    if (known.size >= 64) {
      known.clear();
    }
    known.set(acceptEncoding, chosen);
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

interface Preference {
  readonly preferred: string[];
  /** What came of it for headers that were seen before. */
  readonly known: Map<string, Encoding | "identity">;
}

const forBodies: Preference = { preferred: ["zstd", "br", "gzip"], known: new Map() };
/** Only gzip can change its level on the way (`compress-stream.ts`). */
const forStreams: Preference = { preferred: ["gzip", "zstd", "br"], known: new Map() };

/** The published types do not know the second argument: what to take among encodings the client likes equally. */
interface EncodingNegotiator {
  encodings(available: string[], options?: { preferred: string[] }): string[];
}

function negotiate(acceptEncoding: string, preferred: string[]): Encoding | "identity" {
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
