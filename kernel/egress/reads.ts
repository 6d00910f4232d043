import { type OnReadOpts, Socket } from "node:net";

/**
 * How connections to upstreams are read. A token is a few hundred bytes, but a stream takes 64 KiB for each read, gives
 * most of them back and passes the rest through its queue, which costs more than the read itself. Here all connections
 * read into one buffer, and each piece is copied out of it in the turn in which it came. The HTTP client gets it
 * at once, through the same `readable` and `read()`; what it does not take goes into the stream's queue as ever.
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

/** Lets the client have pieces before the stream does. For sockets that were opened with `onread`. */
export function readAtOnce(socket: Socket): void {
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
    // What waits in the queue came first.
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
