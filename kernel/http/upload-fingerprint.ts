import { createHash } from "node:crypto";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Upload, UploadedFile } from "./upload.ts";

/** An upload that knows, once received, what it held. */
export interface FingerprintedUpload {
  readonly upload: Upload;
  /** Tells equal uploads from others; reads the body to its end when the handler has not received it. */
  fingerprint(): Promise<string>;
}

/**
 * Hashes what an upload holds while it is received: two sendings of one form differ in their boundaries, so the
 * body's bytes say nothing. Only requests with an Idempotency-Key pay for it.
 */
export function withFingerprint(inner: Upload, field: string): FingerprintedUpload {
  let known: string | undefined;

  const upload: Upload = {
    async receive(name, limits, store) {
      const hash = createHash("sha256");
      const received = await inner.receive(name, limits, (file) => {
        hash.update(`${file.filename}\0${file.contentType}\0`);
        return store({ ...file, stream: hashing(file, hash) });
      });
      known = `${hash.digest("hex")} ${JSON.stringify(Object.entries(received.fields).toSorted())}`;
      return received;
    },
  };

  return {
    upload,
    async fingerprint() {
      if (known === undefined) {
        await upload.receive(field, { maxBytes: null }, async ({ stream }) => {
          for await (const _piece of stream) {
            // Only its hash is wanted.
          }
        });
      }
      return known ?? "";
    },
  };
}

function hashing(file: UploadedFile, hash: ReturnType<typeof createHash>): Transform {
  const tapped = new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece);
      done(null, piece);
    },
  });
  tapped.on("error", () => undefined);
  // A failure of the source reaches whoever reads the tapped stream.
  pipeline(file.stream, tapped).catch(() => undefined);
  return tapped;
}
