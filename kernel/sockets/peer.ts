import type { WebSocket } from "ws";
import type { Principal } from "#kernel/access/principal.ts";
import type { SocketPeer } from "./route.ts";

type Frame = readonly [Buffer, boolean];
const largestReason = 120;

/** One WebSocket of a plugin: holds frames back until somebody takes them. */
export class Peer implements SocketPeer {
  readonly params: SocketPeer["params"];
  first: SocketPeer["first"] = {};
  readonly #socket: WebSocket;
  readonly #ended = new AbortController();
  readonly #renewed: (() => void)[] = [];
  #caller: Principal | undefined;
  #waiting: Frame[] = [];
  #handle: ((frame: Buffer, isBinary: boolean) => void) | undefined;

  constructor(socket: WebSocket, params: SocketPeer["params"]) {
    this.#socket = socket;
    this.params = params;
    socket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    socket.on("error", () => socket.terminate());
    socket.once("close", () => this.#ended.abort());
  }

  get caller(): Principal {
    if (this.#caller === undefined) {
      throw new Error("Nobody has signed in on this connection yet.");
    }
    return this.#caller;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** True once its caller is known. */
  get isKnown(): boolean {
    return this.#caller !== undefined;
  }

  /** Sets the caller, for the first time or anew. */
  authorise(caller: Principal): void {
    const isNew = this.#caller === undefined;
    this.#caller = caller;
    if (!isNew) {
      this.#renewed.forEach((handle) => handle());
    }
  }

  onFrame(handle: (frame: Buffer, isBinary: boolean) => void): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#handle = handle;
    waiting.forEach((frame) => handle(...frame));
    this.resume();
  }

  onRenewed(handle: () => void): void {
    this.#renewed.push(handle);
  }

  /** Hands the first frame over, and holds back what follows. */
  takeFirst(handle: (frame: Buffer, isBinary: boolean) => void): void {
    this.#handle = (...frame) => {
      this.#handle = undefined;
      this.pause();
      handle(...frame);
    };
  }

  send(frame: Buffer | string, isBinary: boolean): number {
    if (this.#socket.readyState === this.#socket.OPEN) {
      this.#socket.send(frame, { binary: isBinary, compress: false });
    }
    return this.#socket.bufferedAmount;
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState === this.#socket.OPEN) {
        this.#socket.ping(undefined, undefined, () => resolve());
      } else {
        resolve();
      }
    });
  }

  ping(): void {
    this.#socket.ping();
  }

  onPong(handle: () => void): void {
    this.#socket.on("pong", handle);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close({ code, reason }: { readonly code: number; readonly reason: string }): void {
    this.#handle = undefined;
    this.resume();
    this.#socket.close(code, reason.slice(0, largestReason));
    // A client that does not answer the goodbye is not waited for.
    setTimeout(() => this.#socket.terminate(), 1_000).unref();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#handle) {
      this.#handle(data, isBinary);
    } else if (this.#socket.readyState === this.#socket.OPEN) {
      this.#waiting.push([data, isBinary]);
    }
  }
}
