import { type OnReadOpts, Socket } from "node:net";

/**
 * Socket options that read all upstream connections into one buffer; each piece is copied out of it in the same turn. A
 * token has a few hundred bytes, but a stream allocates 64 KiB for each read and passes the rest through its queue, which
 * costs more than the read itself (P1). The HTTP client gets the piece through the usual `readable` and `read()`; an
 * untaken piece goes into the stream's queue.
 */
export const onread: OnReadOpts = {
  buffer: Buffer.allocUnsafeSlow(64 * 1024),
  /** Node calls it as a method of the socket that was read. */
  callback(this: unknown, length: number, buffer: Uint8Array): boolean {
    const socket = this as Socket & { readonly [reader]?: Reader };
    const piece = Buffer.from(buffer.subarray(0, length));
    return socket[reader] ? socket[reader].take(piece) : socket.push(piece);
  },
};

const reader = Symbol("reader");

/** Hands pieces to the HTTP client before the stream's queue. For sockets opened with `onread`. */
export function useSharedReadBuffer(socket: Socket): void {
  const own = new Reader(socket);
  Object.assign(socket, { [reader]: own, read: (size?: number) => own.read(size) });
}

class Reader {
  readonly #socket: Socket;
  #piece: Buffer | undefined;
  #isTaking = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** False when no more should come for now. */
  take(piece: Buffer): boolean {
    const socket = this.#socket;
    // Queued pieces came first.
    if (socket.readableLength > 0) {
      return socket.push(piece);
    }
    this.#piece = piece;
    this.#isTaking = true;
    socket.emit("readable");
    this.#isTaking = false;
    const left = this.#piece;
    this.#piece = undefined;
    return left === undefined || socket.push(left);
  }

  read(size: number | undefined): unknown {
    if (size === undefined && this.#isTaking && this.#socket.readableLength === 0) {
      const piece = this.#piece;
      this.#piece = undefined;
      return piece ?? null;
    }
    return Socket.prototype.read.call(this.#socket, size);
  }
}
