import type { IncomingHttpHeaders } from "node:http";
import { type Readable, finished } from "node:stream";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import { AppError } from "#kernel/errors.ts";
import { drain } from "./drain.ts";

export interface UploadedFile {
  /** The form field's name. */
  readonly field: string;
  /** As the client sent it: untrusted, never a path. */
  readonly filename: string;
  readonly contentType: string;
  /** The file's bytes; ends with an error when the limit is passed or the client breaks off. */
  readonly stream: Readable;
}

export interface UploadLimits {
  /** Largest file in bytes; null = unlimited. */
  maxBytes: number | null;
  /** The error for a larger one; left out, it says that the file is too large. */
  refusal?: AppError;
}

/** How slowly a client may send: at least `minBytes` in every `windowMs`. */
export interface UploadPatience {
  readonly windowMs: number;
  readonly minBytes: number;
}

/** A multipart body, read only when the handler asks for it. */
export interface Upload {
  /**
   * Hands the first file to `store` while it streams in and resolves to what that returned, with the text
   * fields. Throws `invalid` for a body that is no multipart form or holds no file in `field`, `too_large`
   * beyond the limit, `slow` for a client that drips. When it throws although `store` had finished, what was
   * stored belongs to nobody and the caller removes it.
   */
  receive<R>(
    field: string,
    limits: UploadLimits,
    store: (file: UploadedFile) => Promise<R>,
  ): Promise<{ result: R; fields: Record<string, string> }>;
}

/** A bad line passes, a body that drips to hold a connection and a temporary file does not. */
export const uploadPatience: UploadPatience = { windowMs: 30_000, minBytes: 8 * 1024 };

/** Wraps the request's body; nothing is read before `receive`. */
export function createUpload(
  body: Readable,
  headers: IncomingHttpHeaders,
  patience: UploadPatience = uploadPatience,
): Upload {
  return {
    receive: async (field, limits, store) => receive({ body, headers, field, limits, store, patience }),
  };
}

// All that is not the wanted file (fields, part headers, other files, text around the parts) fits in this.
const maxOverhead = 8 * 1024 * 1024;

interface Receiving<R> {
  body: Readable;
  headers: IncomingHttpHeaders;
  field: string;
  limits: UploadLimits;
  patience: UploadPatience;
  store(file: UploadedFile): Promise<R>;
}

type Parser = InstanceType<typeof Busboy>;

function receive<R>({ body, headers, field, limits, patience, store }: Receiving<R>) {
  const parser = openParser(headers, limits);
  if (Number(headers["content-length"] ?? 0) > (limits.maxBytes ?? Number.POSITIVE_INFINITY) + maxOverhead) {
    void drain(body);
    throw limits.refusal ?? tooLarge();
  }
  const fields: Record<string, string> = Object.create(null);
  let stored: Promise<R> | undefined;
  let file: Readable | undefined;
  let failed = false;

  return new Promise<{ result: R; fields: Record<string, string> }>((resolve, reject) => {
    const fail = (error: unknown) => {
      if (failed) {
        return;
      }
      failed = true;
      meter.stop();
      body.unpipe(parser);
      void drain(body);
      file?.destroy(error as Error);
      // What `store` wrote must be gone before the caller hears of the failure.
      const tell = () => reject(error);
      void Promise.resolve(stored).then(tell, tell);
    };
    const meter = watch({ body, parser, patience, fileBytes: () => bytesOf(file), fail });

    parser.on("field", (name, value, nameTruncated, valueTruncated) => {
      if (nameTruncated || valueTruncated || (name ?? "").length > 200) {
        fail(new AppError("too_large", `The form field ${name.slice(0, 64)} is too long.`));
      } else if (name !== undefined) {
        fields[name] = value;
      }
    });
    parser.on("file", (name, stream, filename, _encoding, contentType) => {
      stream.on("error", () => undefined);
      if (name !== field || stored !== undefined || failed) {
        stream.resume();
        return;
      }
      file = stream;
      stream.once("limit", () => fail(limits.refusal ?? tooLarge()));
      stored = begin(store, { field, filename: filename ?? "", contentType, stream });
      // A store that is content before the end must not stop the fields behind the file.
      stored.then(() => stream.resume(), fail);
    });
    parser.once("partsLimit", () => fail(new AppError("invalid", "The form has too many parts.")));
    parser.once("fieldsLimit", () => fail(new AppError("invalid", "The form has too many fields.")));
    parser.on("error", (error: unknown) =>
      fail(new AppError("invalid", "The body is not a valid multipart form.", { cause: error })),
    );
    parser.once("finish", () => {
      meter.stop();
      if (failed) {
        return;
      }
      if (stored === undefined) {
        fail(new AppError("invalid", `The form holds no file in the field "${field}".`));
      } else {
        stored.then((result) => resolve({ result, fields }), reject);
      }
    });
    finished(body, { writable: false }, (error) => {
      if (error) {
        fail(new AppError("invalid", "The upload broke off.", { cause: error }));
      }
    });
    body.pipe(parser);
  });
}

function openParser(headers: IncomingHttpHeaders, limits: UploadLimits): Parser {
  // The parser would take url-encoded bodies too, which carry no file.
  if (!/^multipart\/form-data\s*;/i.test(headers["content-type"] ?? "")) {
    throw new AppError("invalid", "The body is not a multipart form.");
  }
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fileSize: limits.maxBytes ?? Number.POSITIVE_INFINITY,
        fields: 64,
        fieldSize: 1024 * 1024,
        files: 4,
        parts: 80,
        headerPairs: 64,
        headerSize: 16 * 1024,
      },
    });
  } catch (error) {
    throw new AppError("invalid", "The body is not a multipart form.", { cause: error });
  }
}

/** Calls `store` so that even a synchronous throw is a rejection. */
async function begin<R>(store: (file: UploadedFile) => Promise<R>, file: UploadedFile): Promise<R> {
  return store(file);
}

function tooLarge(): AppError {
  return new AppError("too_large", "The file is larger than this server accepts.");
}

interface Watched {
  body: Readable;
  parser: Parser;
  patience: UploadPatience;
  fileBytes(): number;
  fail(error: AppError): void;
}

/** Counts what arrives: too much beside the file, or too little in a window, fails the upload. */
function watch({ body, parser, patience, fileBytes, fail }: Watched): { stop(): void } {
  let total = 0;
  let atWindow = 0;
  const count = (piece: Buffer) => {
    total += piece.length;
    // What was parsed lags behind what was read by at most a few pieces in the streams' buffers.
    if (total - fileBytes() > maxOverhead + parser.writableLength) {
      fail(new AppError("too_large", "The form holds too much besides its file."));
    }
  };
  const timer = setInterval(() => {
    // While the disk is what is slow, the client is not to blame.
    if (total - atWindow < patience.minBytes && !parser.writableNeedDrain) {
      fail(new AppError("request_timeout", "The upload arrived too slowly."));
    }
    atWindow = total;
  }, patience.windowMs);
  body.on("data", count);
  return {
    stop() {
      clearInterval(timer);
      body.off("data", count);
    },
  };
}

function bytesOf(file: Readable | undefined): number {
  return (file as { bytesRead?: number } | undefined)?.bytesRead ?? 0;
}
