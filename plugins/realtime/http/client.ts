import type { Connection, Wire } from "../connections/connection.ts";
import { FrameLog, type NumberedFrame } from "./frame-log.ts";

/** A client that is away for longer starts afresh; one whose proxy cuts its answers is back within seconds. */
const longestAbsenceMs = 30_000;

/** One client without a WebSocket: the plain protocol, whose frames wait until a request of the client fetches them. */
export class HttpClient {
  readonly wire: Wire = {
    send: (frame) => {
      this.#log.add(typeof frame === "string" ? frame : frame.toString("utf8"));
      this.#wake();
      return this.#log.unsentBytes;
    },
    waiting: () => this.#log.unsentBytes,
    close: () => this.close(),
    pause: () => (this.#resumed ??= Promise.withResolvers<void>()),
    resume: () => {
      this.#resumed?.resolve();
      this.#resumed = undefined;
    },
  };
  connection: Connection | undefined;
  readonly #log = new FrameLog();
  readonly #onclose: () => void;
  #resumed: PromiseWithResolvers<void> | undefined;
  #more = Promise.withResolvers<void>();
  #absence: NodeJS.Timeout | undefined;
  /** The newest request of the client: an older one, whose connection is dead, hands nothing over any more. */
  #reader = 0;
  #isClosed = false;

  constructor(onclose: () => void) {
    this.#onclose = onclose;
    this.#wait();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get sessionId(): string {
    return this.connection?.session.id ?? "";
  }

  has(number: number): boolean {
    return this.#log.has(number);
  }

  /** Takes frames of the client, once those before them have been read. */
  async receive(frames: readonly string[]): Promise<void> {
    for (const frame of frames) {
      await this.#resumed?.promise;
      // Frames after our close are ignored.
      if (this.connection?.session.isOpen) {
        this.connection.receive(frame);
      }
    }
  }

  /** Begins with a request that has the frames up to `after`, in the place of any earlier one. */
  attach(after: number): number {
    this.#log.confirm(after);
    clearTimeout(this.#absence);
    this.#reader += 1;
    this.#wake();
    if (this.connection) {
      this.connection.session.heardAt = Date.now();
    }
    return this.#reader;
  }

  detach(reader: number): void {
    if (reader === this.#reader && !this.#isClosed) {
      this.#wait();
      this.#wake();
    }
  }

  /** Frames after the one that the client has; undefined once another request reads, or nothing more will come. */
  take(reader: number, after: number): readonly NumberedFrame[] | undefined {
    const frames = reader === this.#reader ? this.#log.takeAfter(after) : [];
    return frames.length === 0 && (this.#isClosed || reader !== this.#reader) ? undefined : frames;
  }

  /** Resolves to true when there may be something new to take, and to false after this long without. */
  async changed(longestMs: number): Promise<boolean> {
    const silence = Promise.withResolvers<boolean>();
    const timer = setTimeout(silence.resolve, longestMs, false);
    const isChanged = await Promise.race([this.#more.promise.then(() => true), silence.promise]);
    clearTimeout(timer);
    return isChanged;
  }

  close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearTimeout(this.#absence);
      this.#resumed?.resolve();
      this.#wake();
      this.#onclose();
    }
  }

  #wait(): void {
    clearTimeout(this.#absence);
    this.#absence = setTimeout(() => this.close(), longestAbsenceMs).unref();
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers<void>();
  }
}
