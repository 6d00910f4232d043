import type { ServerResponse } from "node:http";

/** Larger pieces go node's own way: copying them would cost more than it saves. */
const largestCopied = 32 * 1024;

/**
 * Writes one piece of a streamed body. Where the head is out and the body goes in chunks, size, piece and line end
 * leave in one buffer: node's own way makes four writes of them, which is most of what a small piece costs.
 * Returns false when the reader is slow; `onceDrained` says when it has caught up.
 */
export function writeHttpChunk(response: ServerResponse, piece: string | Uint8Array): boolean {
  const { socket } = response;
  const length = typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
  if (length === 0) {
    return true;
  }
  if (!response.headersSent || !response.chunkedEncoding || socket === null || length > largestCopied) {
    return response.write(piece);
  }
  if (response.writableEnded || socket.destroyed) {
    return true;
  }
  const size = length.toString(16);
  if (typeof piece === "string") {
    return socket.write(`${size}\r\n${piece}\r\n`);
  }
  const framed = Buffer.allocUnsafe(size.length + length + 4);
  framed.write(`${size}\r\n`, 0, "latin1");
  framed.set(piece, size.length + 2);
  framed.write("\r\n", size.length + 2 + length, "latin1");
  return socket.write(framed);
}

/** The same for pieces that leave together, in one write and without a copy: they must not change any more. */
export function writePieces(response: ServerResponse, pieces: readonly Uint8Array[]): boolean {
  const { socket } = response;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length === 0 || response.writableEnded || response.destroyed) {
    return true;
  }
  if (!response.headersSent || !response.chunkedEncoding || socket === null) {
    return pieces.map((piece) => response.write(piece)).every(Boolean);
  }
  socket.cork();
  socket.write(`${length.toString(16)}\r\n`);
  pieces.forEach((piece) => socket.write(piece));
  socket.write("\r\n");
  socket.uncork();
  return !socket.writableNeedDrain;
}

/** Calls back once, when what was written has left or the response has closed. */
export function onceDrained(response: ServerResponse, callback: () => void): void {
  const { socket } = response;
  const done = () => {
    socket?.off("drain", done);
    response.off("drain", done);
    response.off("close", done);
    callback();
  };
  socket?.on("drain", done);
  response.on("drain", done);
  response.on("close", done);
}
