import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import { AppError } from "#kernel/errors.ts";

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
}

/** A multipart body, read only when the handler asks for it. */
export interface Upload {
  /**
   * Hands the first file to `store` while it streams in and resolves to what that returned, with the text
   * fields. Throws `invalid` for a body that is no multipart form or holds no file in `field`, `too_large`
   * beyond the limit.
   */
  receive<R>(
    field: string,
    limits: UploadLimits,
    store: (file: UploadedFile) => Promise<R>,
  ): Promise<{ result: R; fields: Record<string, string> }>;
}

/** Wraps the request's body; nothing is read before `receive`. */
export function createUpload(body: Readable, headers: IncomingHttpHeaders): Upload {
  return { receive: (field, limits, store) => receive({ body, headers, field, limits, store }) };
}

interface Receiving<R> {
  body: Readable;
  headers: IncomingHttpHeaders;
  field: string;
  limits: UploadLimits;
  store(file: UploadedFile): Promise<R>;
}

function receive<R>({ body, headers, field, limits, store }: Receiving<R>) {
  const parser = openParser(headers, limits);
  const fields: Record<string, string> = Object.create(null);
  let stored: Promise<R> | undefined;
  let file: Readable | undefined;

  return new Promise<{ result: R; fields: Record<string, string> }>((resolve, reject) => {
    const fail = (error: unknown) => {
      body.unpipe(parser);
      body.resume();
      file?.destroy(error as Error);
      // What `store` wrote must be gone before the caller hears of the failure.
      void Promise.resolve(stored).then(
        () => reject(error),
        () => reject(error),
      );
    };
    parser.on("field", (name, value, nameTruncated, valueTruncated) => {
      if (nameTruncated || valueTruncated) {
        fail(new AppError("too_large", `The form field ${name.slice(0, 64)} is too long.`));
      } else {
        fields[name] = value;
      }
    });
    parser.on("file", (name, stream, filename, _encoding, contentType) => {
      if (name !== field || stored !== undefined) {
        stream.resume();
        return;
      }
      file = stream;
      stream.once("limit", () => fail(new AppError("too_large", "The file is larger than this server accepts.")));
      stored = store({ field: name, filename, contentType, stream });
      stored.catch(fail);
    });
    parser.once("partsLimit", () => fail(new AppError("invalid", "The form has too many parts.")));
    parser.once("fieldsLimit", () => fail(new AppError("invalid", "The form has too many fields.")));
    parser.once("error", (error) => fail(new AppError("invalid", "The body is not a valid multipart form.", { cause: error })));
    body.once("aborted", () => fail(new AppError("invalid", "The upload broke off.")));
    body.once("error", (error) => fail(new AppError("invalid", "The upload broke off.", { cause: error })));
    parser.once("finish", () => {
      if (stored === undefined) {
        reject(new AppError("invalid", `The form holds no file in the field "${field}".`));
      } else {
        stored.then((result) => resolve({ result, fields }), reject);
      }
    });
    body.pipe(parser);
  });
}

function openParser(headers: IncomingHttpHeaders, limits: UploadLimits): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fileSize: limits.maxBytes ?? Number.POSITIVE_INFINITY,
        fields: 64,
        fieldNameSize: 200,
        fieldSize: 1024 * 1024,
        files: 4,
        parts: 80,
        headerPairs: 64,
      },
    });
  } catch (error) {
    throw new AppError("invalid", "The body is not a multipart form.", { cause: error });
  }
}
