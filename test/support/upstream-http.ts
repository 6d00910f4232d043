/** A request as it came off the socket; header names are lower-cased, the body is complete. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/**
 * Reads HTTP/1.1 requests from pieces of a socket, however they are cut, and hands over each complete one.
 * Written by hand because a server made of `node:http` would keep the answer's bytes out of a test's control.
 */
export function createRequestReader(onRequest: (request: RawRequest) => void): (piece: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (piece) => {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    for (let read = readRequest(pending); read; read = readRequest(pending)) {
      pending = pending.subarray(read.length);
      onRequest(read.request);
    }
  };
}

/** The first line and headers of an answer, in bytes. */
export function responseHead(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reasons[status] ?? "Status"}\r\n${lines.join("")}\r\n`;
}

/** One piece of a body with chunked transfer coding. */
export function transferChunk(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data as string);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** The end of a body with chunked transfer coding. */
export const lastTransferChunk = "0\r\n\r\n";

const reasons: Record<number, string> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

function readRequest(bytes: Buffer): { request: RawRequest; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) {
    return undefined;
  }
  const [first = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = Object.fromEntries(lines.map(toHeader));
  const body = readBody(bytes, headEnd + 4, headers);
  return body && { request: { method, path, headers, bytes: body.bytes }, length: body.end };
}

function toHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
}

function readBody(bytes: Buffer, start: number, headers: Record<string, string>) {
  if (headers["transfer-encoding"]?.toLowerCase() === "chunked") {
    return readTransferChunks(bytes, start);
  }
  const end = start + Number(headers["content-length"] ?? 0);
  return bytes.length < end ? undefined : { bytes: bytes.subarray(start, end), end };
}

function readTransferChunks(bytes: Buffer, start: number): { bytes: Buffer; end: number } | undefined {
  const pieces: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (!(bytes.length >= next)) {
      return undefined;
    }
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
    if (size === 0) {
      return { bytes: Buffer.concat(pieces), end: at };
    }
  }
}
