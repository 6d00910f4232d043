import { Readable } from "node:stream";

/** Takes a body piece by piece, in the turn in which the pieces arrive. */
export interface Receiver {
  data(piece: Buffer): void;
  end(): void;
  /** Called once, in place of `end`. */
  failed(error: Error): void;
}

/** What a receiver may ask of the sender, at any time. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** Gives the rest up; the receiver hears nothing more. */
  abort(): void;
}

/** The connection that a body comes from. */
export interface Source {
  pause(): void;
  resume(): void;
  /** Nobody wants the rest. */
  abandon(error: Error | null): void;
}

/** Sees a body's bytes on their way, without being its reader. */
export interface Watcher {
  /** Must not keep the reader waiting, nor change the piece. */
  data(piece: Buffer): void;
  /** Called once: with the failure when the body broke off, with `left` when nobody wanted the rest. */
  over(why: "ended" | "left" | Error): void;
}

const watchers = new WeakMap<Readable, Watcher>();

/** Lets `watcher` see a body that nobody reads yet; undefined takes it away again. */
export function watch(body: Readable, watcher: Watcher | undefined): void {
  const telling = watcher && onceOver(watcher);
  if (body instanceof DirectBody) {
    body.watch(telling);
  } else if (telling) {
    watchers.set(body, telling);
    body.once("close", () => watchers.has(body) && telling.over(body.readableEnded ? "ended" : "left"));
  } else {
    watchers.delete(body);
  }
}

/** Hands the bytes of `body` to `receiver`; nobody else may read it. */
export function receive(body: Readable, receiver: Receiver): Flow {
  if (body instanceof DirectBody && !body.isStream) {
    return body.receive(receiver);
  }
  const watcher = watchers.get(body);
  return listen(body, watcher ? toWatched(receiver, watcher) : receiver);
}

function onceOver({ data, over }: Watcher): Watcher {
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

function toWatched(receiver: Receiver, watcher: Watcher): Receiver {
  return {
    data(piece) {
      watcher.data(piece);
      receiver.data(piece);
    },
    end() {
      watcher.over("ended");
      receiver.end();
    },
    failed(error) {
      watcher.over(error);
      receiver.failed(error);
    },
  };
}

/**
 * A body that is a node stream for whoever reads it as one, and none for who takes it directly: the machinery of a
 * stream costs more than everything else that happens to a token on its way.
 */
export class DirectBody extends Readable {
  readonly #source: Source;
  /** What came before anybody asked; undefined once somebody reads the stream. */
  #early: Buffer[] | undefined = [];
  #earlySize = 0;
  #receiver: Receiver | undefined;
  #watcher: Watcher | undefined;
  #isComplete = false;

  constructor(source: Source) {
    super({ highWaterMark: mostEarly });
    this.#source = source;
    // Who reads sees the failure as well; without a listener one that comes before the reader would end the process.
    this.on("error", ignore);
  }

  /** True once somebody reads it as a stream. */
  get isStream(): boolean {
    return this.#early === undefined;
  }

  /** The connection brought a piece. */
  arrive(piece: Buffer): void {
    this.#watcher?.data(piece);
    if (this.#receiver) {
      this.#receiver.data(piece);
    } else if (!this.#keep(piece)) {
      this.#source.pause();
    }
  }

  /** The connection brought the last piece. */
  complete(): void {
    this.#isComplete = true;
    this.#watcher?.over("ended");
    if (this.#early === undefined) {
      this.push(null);
    }
    this.#take()?.end();
  }

  watch(watcher: Watcher | undefined): void {
    this.#watcher = watcher;
    if (watcher === undefined) {
      return;
    }
    this.#early?.forEach((piece) => watcher.data(piece));
    if (this.#isComplete) {
      watcher.over("ended");
    } else if (this.destroyed) {
      watcher.over(this.errored ?? "left");
    }
  }

  receive(receiver: Receiver): Flow {
    for (const piece of this.#takeEarly()) {
      receiver.data(piece);
    }
    if (this.#isComplete) {
      receiver.end();
    } else if (this.destroyed) {
      receiver.failed(this.errored ?? closedEarly());
    } else {
      this.#receiver = receiver;
      this.#source.resume();
    }
    return {
      pause: () => this.#source.pause(),
      resume: () => this.#source.resume(),
      abort: () => {
        this.#take();
        this.destroy();
      },
    };
  }

  /** Somebody reads the stream: from now on it is one. */
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
    this.#watcher?.over(error ?? "left");
    this.#take()?.failed(error ?? closedEarly());
    callback(error);
  }

  /** False when no more should come before somebody asks. */
  #keep(piece: Buffer): boolean {
    if (this.#early === undefined) {
      return this.push(piece);
    }
    if (!this.destroyed) {
      this.#early.push(piece);
      this.#earlySize += piece.length;
    }
    return this.#earlySize < mostEarly;
  }

  #takeEarly(): Buffer[] {
    const early = this.#early ?? [];
    this.#early &&= [];
    this.#earlySize = 0;
    return early;
  }

  #take(): Receiver | undefined {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    return receiver;
  }
}

/** Bytes that may wait for somebody who asks. */
const mostEarly = 65_536;

function ignore(): void {}

function listen(body: Readable, receiver: Receiver): Flow {
  let isOver = false;
  const once = (tell: () => void) => {
    if (!isOver) {
      isOver = true;
      tell();
    }
  };
  body.on("data", (piece: Buffer) => isOver || receiver.data(piece));
  body.once("end", () => once(() => receiver.end()));
  body.once("error", (error) => once(() => receiver.failed(error)));
  body.once("close", () => once(() => receiver.failed(closedEarly())));
  if (body.destroyed) {
    once(() => receiver.failed(body.errored ?? closedEarly()));
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
