import { Readable } from "node:stream";

/** Takes a body piece by piece, each in the event loop turn in which it arrives. */
export interface BodyConsumer {
  data(piece: Buffer): void;
  end(): void;
  /** Called once, in place of `end`. */
  failed(error: Error): void;
}

/** Controls of the sending side, for the consumer. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** Abandons the rest; no further callback runs. */
  abort(): void;
}

/** The connection that a body comes from. */
export interface Source {
  pause(): void;
  resume(): void;
  /** Closes the connection: the rest is not wanted. */
  abandon(error: Error | null): void;
}

/** Observes a body's bytes without consuming them. */
export interface BodyObserver {
  /** Must neither block nor change the piece. */
  data(piece: Buffer): void;
  /** Called once: with the failure when the body broke off, with `left` when its consumer abandoned the rest. */
  over(why: "ended" | "left" | Error): void;
}

const observers = new WeakMap<Readable, BodyObserver>();

/** Attaches `observer` to a body before it is read; undefined detaches it. */
export function observeBody(body: Readable, observer: BodyObserver | undefined): void {
  const once = observer && onceOver(observer);
  if (body instanceof DirectBody) {
    body.observe(once);
  } else if (once) {
    observers.set(body, once);
    body.once("close", () => observers.has(body) && once.over(body.readableEnded ? "ended" : "left"));
  } else {
    observers.delete(body);
  }
}

/** Makes `consumer` the only reader of `body`. */
export function consumeBody(body: Readable, consumer: BodyConsumer): Flow {
  if (body instanceof DirectBody && !body.isStream) {
    return body.consume(consumer);
  }
  const observer = observers.get(body);
  return listen(body, observer ? toObserved(consumer, observer) : consumer);
}

function onceOver({ data, over }: BodyObserver): BodyObserver {
  let isOver = false;
  return {
    data,
    over(why) {
      if (!isOver) {
        isOver = true;
        over(why);
      }
    },
  };
}

function toObserved(consumer: BodyConsumer, observer: BodyObserver): BodyConsumer {
  return {
    data(piece) {
      observer.data(piece);
      consumer.data(piece);
    },
    end() {
      observer.over("ended");
      consumer.end();
    },
    failed(error) {
      observer.over(error);
      consumer.failed(error);
    },
  };
}

/**
 * A body that is a node stream for readers of streams and calls a `BodyConsumer` directly otherwise. Node's stream
 * machinery costs more CPU per token than all other relay work; P1 and P2 of performance.md fail with it.
 */
export class DirectBody extends Readable {
  readonly #source: Source;
  /** Pieces that arrived before a consumer; undefined once the body is read as a stream. */
  #early: Buffer[] | undefined = [];
  #earlySize = 0;
  #consumer: BodyConsumer | undefined;
  #observer: BodyObserver | undefined;
  #isComplete = false;

  constructor(source: Source) {
    super({ highWaterMark: maxEarlyBytes });
    this.#source = source;
    // A failure before the first reader would be an unhandled error event and end the process.
    this.on("error", ignore);
  }

  /** True once the body is read as a stream. */
  get isStream(): boolean {
    return this.#early === undefined;
  }

  /** The connection brought a piece. */
  arrive(piece: Buffer): void {
    this.#observer?.data(piece);
    if (this.#consumer) {
      this.#consumer.data(piece);
    } else if (!this.#buffer(piece)) {
      this.#source.pause();
    }
  }

  /** The connection brought the last piece. */
  complete(): void {
    this.#isComplete = true;
    this.#observer?.over("ended");
    if (this.#early === undefined) {
      this.push(null);
    }
    this.#releaseConsumer()?.end();
  }

  observe(observer: BodyObserver | undefined): void {
    this.#observer = observer;
    if (observer === undefined) {
      return;
    }
    this.#early?.forEach((piece) => observer.data(piece));
    if (this.#isComplete) {
      observer.over("ended");
    } else if (this.destroyed) {
      observer.over(this.errored ?? "left");
    }
  }

  consume(consumer: BodyConsumer): Flow {
    for (const piece of this.#drainEarly()) {
      consumer.data(piece);
    }
    if (this.#isComplete) {
      consumer.end();
    } else if (this.destroyed) {
      consumer.failed(this.errored ?? closedEarly());
    } else {
      this.#consumer = consumer;
      this.#source.resume();
    }
    return {
      pause: () => this.#source.pause(),
      resume: () => this.#source.resume(),
      abort: () => {
        this.#releaseConsumer();
        this.destroy();
      },
    };
  }

  /** The first read turns the body into a stream. */
  override _read(): void {
    const early = this.#early;
    this.#early = undefined;
    early?.forEach((piece) => this.push(piece));
    if (early && this.#isComplete) {
      this.push(null);
    }
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#early &&= [];
    this.#source.abandon(error);
    this.#observer?.over(error ?? "left");
    this.#releaseConsumer()?.failed(error ?? closedEarly());
    callback(error);
  }

  /** False when the buffer is full. */
  #buffer(piece: Buffer): boolean {
    if (this.#early === undefined) {
      return this.push(piece);
    }
    if (!this.destroyed) {
      this.#early.push(piece);
      this.#earlySize += piece.length;
    }
    return this.#earlySize < maxEarlyBytes;
  }

  #drainEarly(): Buffer[] {
    const early = this.#early ?? [];
    this.#early &&= [];
    this.#earlySize = 0;
    return early;
  }

  #releaseConsumer(): BodyConsumer | undefined {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    return consumer;
  }
}

/** Bytes buffered for a later consumer. */
const maxEarlyBytes = 65_536;

function ignore(): void {}

function listen(body: Readable, consumer: BodyConsumer): Flow {
  let isOver = false;
  const once = (tell: () => void) => {
    if (!isOver) {
      isOver = true;
      tell();
    }
  };
  body.on("data", (piece: Buffer) => isOver || consumer.data(piece));
  body.once("end", () => once(() => consumer.end()));
  body.once("error", (error) => once(() => consumer.failed(error)));
  body.once("close", () => once(() => consumer.failed(closedEarly())));
  if (body.destroyed) {
    once(() => consumer.failed(body.errored ?? closedEarly()));
  }
  return {
    pause: () => body.pause(),
    resume: () => body.resume(),
    abort: () => {
      isOver = true;
      body.destroy();
    },
  };
}

function closedEarly(): Error {
  return new Error("the upstream closed early");
}
